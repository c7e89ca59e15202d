import { batchPathsMax, type VersionVector } from '@lockstep/shared';
import type { Journal } from '../ports/journal.ts';

/** More paths behind than this is no small lag, whatever they wait for. */
const lagPathsMax = 4_096;

/**
 * Whether the disk shows what `goal` covers, or something newer is on its way to the same path; at most `exceptions` paths aside.
 * While others change the folder all the time this becomes true, and the disk as a whole is never level.
 */
export function showsUpTo(journal: Journal, goal: VersionVector, exceptions: number): boolean {
  const { pending } = journal.counts();
  if (pending <= exceptions) return true;
  if (pending > lagPathsMax + exceptions) return false;
  let older = 0;
  for (const which of ['live', 'delete'] as const) {
    let after: string | undefined;
    do {
      const rows = journal.pending({ which, after, limit: batchPathsMax });
      for (const { heads } of rows) if (heads.some(({ origin, seq }) => seq <= (goal[origin] ?? 0))) older++;
      if (older > exceptions) return false;
      after = rows.length < batchPathsMax ? undefined : rows.at(-1)?.path;
    } while (after !== undefined);
  }
  return true;
}
