import type { Bindable } from './statement.ts';

/**
 * An upper bound that no path reaches: SQLite compares paths byte by byte, and a BLOB is greater than any text. Nothing here compares paths
 * in JavaScript, whose order of strings differs beyond the Basic Multilingual Plane.
 */
export const afterAllPaths: Bindable = new Uint8Array(0);

/** The range of the paths below `directory`: from `from` (inclusive) to `to` (exclusive). `''` is the folder. */
export function rangeBelow(directory: string): { readonly from: string; readonly to: Bindable } {
  // "0" is the character that follows "/".
  return directory === '' ? { from: '', to: afterAllPaths } : { from: `${directory}/`, to: `${directory}0` };
}

/** The smallest possible path after `path`: no path contains NUL. */
export function successor(path: string): string {
  return `${path}\u0001`;
}

const firstPageRows = 8;
const pageRowsMax = 512;

/**
 * The rows of a table that are directly in `directory`, by path. `page` returns the table's rows from `from` (inclusive) to `to`
 * (exclusive), at most `limit`. Deeper rows are skipped, so that the cost depends on the number of entries in this directory and not on the
 * number below it. With `after`, a path in the directory, it begins after that one.
 */
export function* directChildren<Row extends { readonly path: string }>(
  directory: string,
  page: (from: string, to: Bindable, limit: number) => readonly Row[],
  after?: string,
): IterableIterator<Row> {
  const { from: prefix, to } = rangeBelow(directory);
  let from = after === undefined ? prefix : successor(after);
  let limit = firstPageRows;
  for (;;) {
    const rows = page(from, to, limit);
    let complete = rows.length < limit;
    limit = Math.min(limit * 2, pageRowsMax);
    for (const row of rows) {
      const slash = row.path.indexOf('/', prefix.length);
      if (slash >= 0) {
        from = `${row.path.slice(0, slash)}0`;
        limit = firstPageRows;
        complete = false;
        break;
      }
      yield row;
      from = successor(row.path);
    }
    if (complete) return;
  }
}
