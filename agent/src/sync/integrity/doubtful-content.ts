import { conflictPath } from '../../core/conflict-name.ts';
import { type DiskEntry, isSameFingerprint, permissions } from '../../core/entry.ts';
import { stampOfMs } from '../../core/hlc.ts';
import type { Observation } from '../ports/observation.ts';
import { applyActions } from '../state/apply-actions.ts';
import type { Context } from '../state/context.ts';

type SeenFile = Observation & { state: 'file' };

const doubtBy = { held: 'doubtful', nowhere: 'none', unknown: 'undecided' } as const;

/** Whether a change may be damage. `undecided`: some members were not heard yet. `torn`: a power cut left the file empty or all zeros. */
export type Doubt = 'none' | 'undecided' | 'doubtful' | 'torn';

/**
 * Judges a file that differs from its row. `none`, an edit, unless it has the row's fingerprint and may be damage: an earlier run of
 * the agent recorded the row so soon after a change that a later change may have left the same times. This matters only if another
 * member has the content of the row; otherwise this is the only version left, and counts as an edit.
 */
export function judgeDoubt(context: Context, row: DiskEntry, seen: SeenFile): Doubt {
  const { others, startedAtMs, lastBoot, journal } = context;
  const { path, fingerprint, content, dot } = row;
  if ((seen.fingerprint.size === 0 || seen.isZeros) && lastBoot.mayHaveTorn(row, seen)) {
    // Content that the agent itself put there is no doubt.
    if (journal.heads.at(path).some((head) => head.content === seen.content)) return 'none';
    const holding = others.holding(dot);
    return holding === 'held' ? 'torn' : doubtBy[holding];
  }
  if (lastBoot.mayEndTorn(row, seen)) {
    if (journal.heads.at(path).some((head) => head.content === seen.content)) return 'none';
    return doubtBy[others.holding(dot)];
  }
  if (!row.racy || row.damaged || fingerprint === undefined || content === undefined || seen.content === content) {
    return 'none';
  }
  if (!isSameFingerprint(fingerprint, seen.fingerprint) || fingerprint.ctimeMs >= startedAtMs) return 'none';
  return doubtBy[others.holding(dot)];
}

/** Number of names tried for one copy. Each taken name is that of an earlier copy, which its user has changed since. */
const namesMax = 16;

/**
 * Copies the file to the name of a conflict copy, so that both versions stay. Resolves with that name; with `not-now` if that failed,
 * and with `never` if no file can be made next to it, because it is on another disk. Call it under the folder lock.
 */
export async function keepDoubtful(
  context: Context,
  row: DiskEntry,
  seen: SeenFile,
): Promise<{ readonly copy: string } | 'not-now' | 'never'> {
  const stamp = stampOfMs(Math.max(0, seen.fingerprint.ctimeMs));
  for (let count = 0; count < namesMax; count++) {
    const copy = conflictPath(row.path, stamp + count, context.self.name);
    const outcome = await copyTo(context, copy, row, seen);
    if (outcome !== 'taken') return outcome === 'done' ? { copy } : outcome;
  }
  return 'not-now';
}

/** Copies the file to this name. `taken`: another entry has the name. A machine that was set back may find a copy that it made before. */
async function copyTo(
  context: Context,
  copy: string,
  row: DiskEntry,
  { content, blocks, fingerprint, mtimeUs }: SeenFile,
): Promise<'done' | 'taken' | 'not-now' | 'never'> {
  const { folder, problems } = context;
  const [result] = await applyActions(context, [
    {
      action: {
        do: 'write',
        path: copy,
        expected: 'absent',
        content,
        blocks,
        size: fingerprint.size,
        mode: permissions(fingerprint.mode),
        mtimeUs,
        source: { from: 'file', path: row.path, fingerprint },
      },
    },
  ]);
  if (result?.result === 'done') return 'done';
  if (result?.result === 'problem' && result.code === 'path-in-the-way') return 'never';
  if (result?.result === 'problem') problems.set(result.code, { path: row.path }, result.detail);
  // An earlier attempt may have made the copy before it was killed.
  const [there] = await folder.observe([{ path: copy, hashLarge: true }]);
  if (there?.state === 'file' && there.content === content) return 'done';
  const isTaken = there?.state === 'file' || there?.state === 'symlink' || there?.state === 'directory';
  return result?.result === 'changed' && isTaken ? 'taken' : 'not-now';
}
