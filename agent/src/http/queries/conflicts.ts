import { isLive, memberOf, type Operation } from '@lockstep/shared';
import type { ConflictsPage, ConflictsQuery, ResolveRequest, ResolveResult } from '@lockstep/shared/api';
import { loserOf, lostAtMs } from '../../core/conflict-name.ts';
import { stampMs } from '../../core/hlc.ts';
import { writerOf } from '../../core/join.ts';
import { findOriginal } from '../../sync/conflicts/find-original.ts';
import { resolveConflict } from '../../sync/conflicts/manual-resolution.ts';
import type { Engine } from '../../sync/engine.ts';
import { EntryReporter } from './tree.ts';

/** One page of the conflict copies that are not settled, each with the entry at the path that it is a copy of. */
export function readConflicts(engine: Engine, { after, limit }: ConflictsQuery): ConflictsPage {
  const { journal } = engine.context;
  const copies = journal.conflictCopies(after, limit + 1);
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
        loserAt: lostAtMs(copy.path),
        ...winnerOf(engine, original),
      };
    }),
    next: copies.length > limit ? (shown.at(-1)?.path ?? null) : null,
    total: journal.conflictCopyCount(),
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

function liveAt(engine: Engine, path: string): Operation | undefined {
  const [visible] = engine.context.journal.heads(path);
  return visible !== undefined && isLive(visible) ? visible : undefined;
}

function winnerOf(engine: Engine, original: Operation | undefined): { winner: string | null; winnerAt: number | null } {
  if (original === undefined) return { winner: null, winnerAt: null };
  const { origin, hlc } = writerOf(original, (dot) => engine.context.journal.operation(dot));
  return { winner: engine.peers.nameOf(memberOf(origin)), winnerAt: stampMs(hlc) };
}
