import type { StartUp } from '@lockstep/shared/present';
import type { Engine } from '../../sync/engine.ts';
import { ownProgress } from './progress.ts';

/** How far the start of this member has come. */
export function readStartUp(engine: Engine): StartUp {
  const { context, catchUp, peers, transfers, lifecycle, localChanges } = engine;
  const counts = context.journal.totals.counts();
  const pull = catchUp.progress();
  const sources = new Set(transfers.progress().flatMap(({ source }) => (source === undefined ? [] : [source])));
  return {
    phase: lifecycle.phase,
    catchUp: pull && { source: peers.nameOf(pull.source), done: pull.done, total: pull.total },
    files: counts.disk.files,
    unsettled: localChanges.unsettled,
    pending: counts.pending,
    progress: ownProgress(engine),
    sources: [...sources].map((id) => peers.nameOf(id)).sort(),
  };
}
