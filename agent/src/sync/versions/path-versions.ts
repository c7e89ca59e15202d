import { isLive, versionsMax } from '@lockstep/shared';
import type { Journal, LogRow } from '../ports/journal.ts';

/** The versions of a path. */
export interface FoundVersions {
  /** Newest first, by the time at which they were made. */
  readonly rows: readonly LogRow[];
  /** There are older ones. */
  readonly more: boolean;
}

/** Names that a file had before: a file that is renamed back and forth is followed no further. */
const renamesMax = 20;

/** The versions of `path` in the journal, and those that its file had under earlier names. */
export function versionsOf(journal: Journal, path: string): FoundVersions {
  const rows = new Map<number, LogRow>();
  const names: { readonly path: string; readonly beforeRow: number }[] = [{ path, beforeRow: Number.MAX_SAFE_INTEGER }];
  let more = false;
  for (const name of names) {
    const found = journal.log.rows({ ...name, limit: versionsMax + 1 });
    more ||= found.length > versionsMax;
    for (const row of found.slice(0, versionsMax)) rows.set(row.row, row);
    // Under its earlier name a file may have had another one before.
    const renamed = found.find(({ operation }) => operation.from !== undefined);
    if (renamed?.operation.from === undefined || names.length > renamesMax) continue;
    names.push({ path: renamed.operation.from, beforeRow: renamed.row });
  }
  const newestFirst = [...rows.values()]
    .filter(({ operation }) => operation.path === path || isLive(operation))
    .sort((a, b) => b.operation.hlc - a.operation.hlc || b.row - a.row);
  return { rows: newestFirst.slice(0, versionsMax), more: more || newestFirst.length > versionsMax };
}
