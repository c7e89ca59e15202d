import { isDirectoryMode } from '../core/plan-step.ts';
import type { Context } from './context.ts';
import type { DiskChange, Fingerprint, PendingPath } from './ports/journal.ts';

/**
 * Rows whose fingerprint could hide a change (file times are coarse) are read again before anything is put over their entries,
 * or a user's edit of the same moment would be lost. `certain` are the rows that may be planned. The others must wait: those in
 * `changed` are not what their row says, and those in `racy` have changed so recently that even this look proves nothing.
 */
export async function lookAtRacyRows(
  { folder, journal }: Context,
  rows: readonly PendingPath[],
): Promise<{
  readonly certain: readonly PendingPath[];
  readonly changed: readonly PendingPath[];
  readonly racy: readonly PendingPath[];
}> {
  const unsure = rows.filter(({ disk }) => disk?.racy && disk.fingerprint && !isDirectoryMode(disk.fingerprint.mode));
  if (unsure.length === 0) return { certain: rows, changed: [], racy: [] };
  const observations = await folder.observe(unsure.map(({ path }) => ({ path })));
  const changed = new Set<PendingPath>();
  const racy = new Set<PendingPath>();
  const certain = new Map<PendingPath, PendingPath>();
  const records: DiskChange[] = [];
  for (const [index, row] of unsure.entries()) {
    const seen = observations[index];
    const { disk } = row;
    const isSame =
      seen?.state === 'file' &&
      disk?.fingerprint !== undefined &&
      seen.content === disk.content &&
      isEqual(seen.fingerprint, disk.fingerprint);
    if (!isSame) changed.add(row);
    else if (seen.racy) racy.add(row);
    else {
      const { path: _, ...entry } = { ...disk, racy: false };
      records.push({ path: row.path, entry });
      certain.set(row, { ...row, disk: { ...disk, racy: false } });
    }
  }
  if (records.length > 0) journal.recordDisk(records);
  return {
    certain: rows.filter((row) => !changed.has(row) && !racy.has(row)).map((row) => certain.get(row) ?? row),
    changed: [...changed],
    racy: [...racy],
  };
}

function isEqual(a: Fingerprint, b: Fingerprint): boolean {
  return (
    a.ino === b.ino && a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.mode === b.mode
  );
}
