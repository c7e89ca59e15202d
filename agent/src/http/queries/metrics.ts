import type { ProblemCode } from '@lockstep/shared';
import type { Engine } from '../../sync/engine.ts';
import type { Totals } from '../../sync/measurements/totals.ts';

/** The sums since the agent started and the current lengths of queues, for `/metrics`, without the values of the status. */
export interface MetricsSnapshot extends Readonly<Totals> {
  /** Items waiting in each queue, by a fixed name: `dirty`, `pending`, `fetch`, … */
  readonly queues: Readonly<Record<string, number>>;
  /** The number of problems of each code, more than the status lists. */
  readonly problems: ReadonlyMap<ProblemCode, number>;
}

export function readMetrics({ totals, localChanges, transfers, context }: Engine): MetricsSnapshot {
  return {
    ...totals,
    queues: {
      dirty: localChanges.unsettled,
      pending: context.journal.totals.counts().pending,
      fetch: transfers.progress().length,
      inbox_bytes: context.receivedBytesCache.bytes,
    },
    problems: context.problems.countsByCode(),
  };
}
