import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(`${root}docs/PATHS.md`, 'utf8');

/** The rows of the tables, by section. */
const paths = page
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    section,
    rows: [...section.matchAll(/^\| `(\S+\.ts)` +\| `(\S+)` +\|/gm)].map(([, file = '', name = '']) => ({
      file,
      name,
    })),
  }));

test('the files and functions of docs/PATHS.md exist', () => {
  const rows = paths.flatMap((path) => path.rows);
  expect(rows.length).toBeGreaterThan(50);
  const isThere = ({ file, name }: { readonly file: string; readonly name: string }): boolean =>
    existsSync(root + file) &&
    new RegExp(`(?:^|\\s)${name}(?:<[^>]*>)?[(:]`, 'm').test(readFileSync(root + file, 'utf8'));
  expect(rows.filter((row) => !isThere(row))).toEqual([]);
});

test.each(paths)('$section: its number of files is right', ({ section, rows }) => {
  expect(section).toContain(`passes through ${rows.length} files`);
});
