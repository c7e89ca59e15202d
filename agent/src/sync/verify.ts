import { batchPathsMax } from '@lockstep/shared';
import type { VerifyResult } from '@lockstep/shared/api';
import { listedPathsMax } from '@lockstep/shared/api';
import type { Context } from './context.ts';

type Difference = VerifyResult['disk']['paths'][number];

/** Replays the log and compares it with the heads, then reads the folder and compares it with the content ids. Changes nothing. */
export async function verifyMember(context: Context, aborted: () => boolean): Promise<VerifyResult> {
  const { journal, clock, lock } = context;
  const startMs = clock.monotonicMs();
  const { compared, differing } = journal.verifyHeads(false);
  const heads = {
    compared,
    differing: differing.length,
    paths: differing
      .slice(0, listedPathsMax)
      .map((path) => ({ path, reason: 'The stored heads are not those of the log.' })),
  };
  const disk = { compared: 0, differing: 0, paths: [] as Difference[] };
  let after: string | undefined;
  for (;;) {
    if (aborted()) break;
    const last = await lock.run(() => verifyDiskBatch(context, after, disk));
    if (last === undefined) break;
    after = last;
  }
  const ok = heads.differing === 0 && disk.differing === 0;
  return { ok, heads, disk, elapsedMs: clock.monotonicMs() - startMs };
}

/** Compares the rows after `after`; returns the last path of the batch, or undefined at the end. */
async function verifyDiskBatch(
  { journal, folder }: Context,
  after: string | undefined,
  into: { compared: number; differing: number; paths: Difference[] },
): Promise<string | undefined> {
  const rows = journal.diskBelow('', after, batchPathsMax);
  const seen = await folder.observe(rows.map(({ path }) => ({ path, hashLarge: true })));
  for (const [index, row] of rows.entries()) {
    const entry = seen[index];
    if (entry === undefined) continue;
    into.compared++;
    let reason: string | undefined;
    if (entry.state === 'absent') reason = 'It is not there.';
    else if (entry.state === 'problem') reason = entry.detail;
    else if (entry.state === 'changing') reason = 'It changes while it is read: verify again when it is at rest.';
    else if (entry.state === 'special') reason = entry.problem?.detail ?? 'A socket, pipe or device stands there.';
    else if (entry.state === 'file' && entry.content !== row.content) {
      reason =
        'Its bytes are not those of its content id. A change made a moment ago shows here until it is journaled.';
    } else if (entry.state !== 'file' && row.content !== undefined) reason = `It is a ${entry.state} where a file was.`;
    if (reason === undefined) continue;
    into.differing++;
    if (into.paths.length < listedPathsMax) into.paths.push({ path: row.path, reason });
  }
  return rows.length < batchPathsMax ? undefined : rows.at(-1)?.path;
}
