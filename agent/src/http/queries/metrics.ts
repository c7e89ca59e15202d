import type { Engine } from '../../sync/engine.ts';
import type { Totals } from '../../sync/totals.ts';

/** Sums since the agent started and lengths of queues now, for `/metrics`. What the status says is not repeated. */
export interface MetricsSnapshot extends Readonly<Totals> {
  /** Items waiting in each queue, by a fixed name: `dirty`, `pending`, `fetch`, … */
  readonly queues: Readonly<Record<string, number>>;
}

export function readMetrics({ totals, localChanges, transfers, context }: Engine): MetricsSnapshot {
  return {
    ...totals,
    queues: {
      dirty: localChanges.unsettled,
      pending: context.journal.counts().pending,
      fetch: transfers.progress().length,
      inbox_bytes: context.inbox.bytes,
    },
  };
}
