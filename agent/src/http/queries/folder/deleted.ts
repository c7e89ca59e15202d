import { isLive, isStatePath, joinPath, memberOf, nameOf, type Operation } from '@lockstep/shared';
import type { DeletedPage, TreeQuery } from '@lockstep/shared/api';
import { stampMs } from '../../../core/hlc.ts';
import type { Engine } from '../../../sync/engine.ts';
import { EntryReporter } from './tree.ts';

/** Number of a path's newest operations that are searched for the entry that was deleted. */
const searchedMax = 20;

/** One page of the entries that were deleted directly in a directory, each as it last was. */
export function readDeleted(engine: Engine, { path, after, limit }: TreeQuery): DeletedPage {
  const { journal } = engine.context;
  const reporter = new EntryReporter(engine);
  const from = after === undefined ? undefined : joinPath(path, after);
  const deletes = journal.tree.deletedChildren(path, from, limit + 1);
  const page = deletes.slice(0, limit);
  const last = deletes.length > limit ? page.at(-1) : undefined;
  const entries = page.flatMap((deleted) => {
    const before = isStatePath(deleted.path) ? undefined : lastLive(engine, deleted.path);
    if (before === undefined) return [];
    const writer = memberOf(deleted.origin);
    const writerName = engine.peers.nameOf(writer);
    const { holding, missing, pending } = reporter.report(deleted);
    const by = { writer, writerName, at: stampMs(deleted.hlc), holding, missing, pending };
    return [{ ...reporter.report(before), ...by, conflict: false, deleted: true }];
  });
  return { path, entries, next: last === undefined ? null : nameOf(last.path) };
}

function lastLive({ context: { journal } }: Engine, path: string): Operation | undefined {
  return journal.log
    .rows({ path, beforeRow: Number.MAX_SAFE_INTEGER, limit: searchedMax })
    .find(({ operation }) => isLive(operation))?.operation;
}
