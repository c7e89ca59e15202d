import { contentRead, isDirectoryMode, isSameEntry, isSameFingerprint, markedRacy } from '../../core/entry.ts';
import type { DiskChange, PendingPath } from '../ports/journal.ts';
import type { Context } from '../state/context.ts';

/**
 * Reads again the entries of rows whose fingerprint could hide a change, before they are replaced; otherwise a user's edit would be lost.
 * File times are coarse, a mapping changes them once, and for damage it is never known. The rows in `certain` may be planned. The others
 * must wait: those in `changed` differ from their row. Those in `racy` have changed so recently that even this read proves nothing. Those
 * in `dirty` may change without a trace until a sync has ended. Those in `large` are read again outside the folder lock.
 */
export async function readRacyRows(
  { folder, journal }: Context,
  rows: readonly PendingPath[],
): Promise<{
  readonly certain: readonly PendingPath[];
  readonly changed: readonly PendingPath[];
  readonly racy: readonly PendingPath[];
  readonly dirty: readonly PendingPath[];
  readonly large: readonly PendingPath[];
}> {
  const dirty = new Set(rows.filter(({ disk }) => disk?.unconfirmed === 'dirty' && contentRead(disk) !== undefined));
  const unsure = rows.filter(
    (row) =>
      (row.disk?.racy || row.disk?.unconfirmed || row.disk?.found !== undefined) &&
      !dirty.has(row) &&
      (!row.disk.damaged || contentRead(row.disk) !== undefined) &&
      row.disk.fingerprint &&
      !isDirectoryMode(row.disk.fingerprint.mode),
  );
  if (unsure.length + dirty.size === 0) return { certain: rows, changed: [], racy: [], dirty: [], large: [] };
  const observations = await folder.observe(unsure.map(({ path }) => ({ path })));
  const changed = new Set<PendingPath>();
  const racy = new Set<PendingPath>();
  const large = new Set<PendingPath>();
  const certain = new Map<PendingPath, PendingPath>();
  const records: DiskChange[] = [];
  for (const [index, row] of unsure.entries()) {
    const seen = observations[index];
    const { disk } = row;
    if (disk?.fingerprint === undefined || seen === undefined) continue;
    const isSameFile =
      (seen.state === 'file' || seen.state === 'large') && isSameFingerprint(seen.fingerprint, disk.fingerprint);
    if (isSameFile && seen.state === 'large' && !disk.racy) {
      // Large damage that is not unconfirmed is not read again: it goes to history as it is.
      if (disk.unconfirmed) large.add(row);
      continue;
    }
    const isSame = isSameFile && seen.state === 'file' && seen.content === contentRead(disk);
    if (!isSame) {
      changed.add(row);
      // Its fingerprint proves nothing: the next detection must read it.
      if (isSameFile && !disk.racy) records.push(markedRacy(disk, true));
    } else if (seen.racy && (!disk.damaged || disk.cut)) racy.add(row);
    else if (disk.racy) {
      records.push(markedRacy(disk, false));
      certain.set(row, { ...row, disk: { ...disk, racy: false } });
    }
  }
  if (records.length > 0) journal.disk.record(records);
  const waiting = new Set([...changed, ...racy, ...dirty, ...large]);
  return {
    certain: rows.filter((row) => !waiting.has(row)).map((row) => certain.get(row) ?? row),
    changed: [...changed],
    racy: [...racy],
    dirty: [...dirty],
    large: [...large],
  };
}

/**
 * Finds those of the `records` whose entry is no longer on this disk as it is described. Such a record only gives a row another operation
 * with the same entry. If a user has just removed or replaced the entry, that change must not supersede an operation whose author they
 * could not know. An entry that cannot be observed counts as unchanged. Resolves with the paths.
 */
export async function changedEntries(
  { folder }: Context,
  records: readonly DiskChange[],
): Promise<ReadonlySet<string>> {
  const shown = records.flatMap(({ path, entry }) => (entry?.fingerprint ? { path, expected: entry.fingerprint } : []));
  if (shown.length === 0) return new Set();
  const seen = await folder.observe(shown);
  const changed = shown.filter(({ expected }, index) => {
    const one = seen[index];
    if (one === undefined || one.state === 'same' || one.state === 'problem') return false;
    return !('fingerprint' in one) || !isSameEntry(expected, one.fingerprint);
  });
  return new Set(changed.map(({ path }) => path));
}
