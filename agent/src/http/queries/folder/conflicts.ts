import { isLive, LockstepError, memberOf, type Operation } from '@lockstep/shared';
import type {
  ConflictsPage,
  ConflictsQuery,
  MergedQuery,
  ResolveRequest,
  ResolveResult,
  WrittenEntry,
} from '@lockstep/shared/api';
import { isConflictPath, loserOf, lostStamp } from '../../../core/conflict-name.ts';
import { stampMs } from '../../../core/hlc.ts';
import { isJoin, writerOf } from '../../../core/join.ts';
import { isSameContent } from '../../../core/merge.ts';
import { putFile } from '../../../sync/access/put-file.ts';
import { findOriginal } from '../../../sync/conflicts/find-original.ts';
import { resolveConflict } from '../../../sync/conflicts/manual-resolution.ts';
import type { Engine } from '../../../sync/engine.ts';
import { written } from './files.ts';
import { EntryReporter } from './tree.ts';

/**
 * The number of the newest operations at a path that are searched for the one that wrote a content first. A version that a person puts back
 * is a new write of an old content, and has no pointer to the old one.
 */
const searchedMax = 20;

/** One page of the conflict copies that are not settled, each with the entry at the path that it is a copy of. */
export function readConflicts(engine: Engine, { after, limit }: ConflictsQuery): ConflictsPage {
  const { journal } = engine.context;
  const copies = journal.conflictCopies.after(after, limit + 1);
  const reporter = new EntryReporter(engine);
  const shown = copies.slice(0, limit);
  return {
    conflicts: shown.map((copy) => {
      const path = findOriginal(journal, copy.path);
      const original = liveAt(engine, path);
      return {
        copy: reporter.report(copy),
        path,
        original: original === undefined ? null : reporter.report(original),
        loser: loserOf(copy.path),
        loserAt: stampMs(lostStamp(copy.path)),
        ...winnerOf(engine, original),
      };
    }),
    next: copies.length > limit ? (shown.at(-1)?.path ?? null) : null,
    total: journal.conflictCopies.count(),
  };
}

/** Settles conflicts one by one; a refused one does not stop the others. */
export async function resolveConflicts(engine: Engine, { conflicts }: ResolveRequest): Promise<ResolveResult> {
  const results: ResolveResult['results'][number][] = [];
  const mark = (path: string): void => engine.localChanges.mark(path);
  for (const choice of conflicts) {
    results.push({ copy: choice.copy, ...(await resolveConflict(engine.context, choice, mark)) });
  }
  return { results };
}

/** Settles a conflict by a content that replaces both versions, if they are still those that the person saw. Throws the refusal. */
export async function mergeConflict(
  engine: Engine,
  { copy, copySeen, originalSeen }: MergedQuery,
  chunks: AsyncIterable<Uint8Array>,
): Promise<WrittenEntry> {
  if (!isConflictPath(copy)) throw new LockstepError('request-invalid', `${copy} is not a conflict copy.`);
  const path = findOriginal(engine.context.journal, copy);
  const condition = { is: 'versions', versions: new Set([originalSeen]) } as const;
  const settles = { copy, version: copySeen };
  return written(path, await putFile(engine, { path, condition, size: undefined, chunks, settles }));
}

function liveAt(engine: Engine, path: string): Operation | undefined {
  const [visible] = engine.context.journal.heads.at(path);
  return visible !== undefined && isLive(visible) ? visible : undefined;
}

function winnerOf(engine: Engine, original: Operation | undefined): { winner: string | null; winnerAt: number | null } {
  if (original === undefined) return { winner: null, winnerAt: null };
  const { journal } = engine.context;
  const { origin, hlc } = writerOf(firstWith(engine, original), (dot) => journal.log.operation(dot));
  return { winner: engine.peers.nameOf(memberOf(origin)), winnerAt: stampMs(hlc) };
}

/** The oldest known operation with the content of `head`: who put an old version back did not write it. */
function firstWith({ context }: Engine, head: Operation): Operation {
  if (isJoin(head)) return head;
  const rows = context.journal.log.rows({ path: head.path, beforeRow: Number.MAX_SAFE_INTEGER, limit: searchedMax });
  return rows.map(({ operation }) => operation).findLast((each) => isSameContent(each, head)) ?? head;
}
