import { type DiskChange, isSameEntry } from '../../core/entry.ts';
import type { Context } from '../state/context.ts';

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
