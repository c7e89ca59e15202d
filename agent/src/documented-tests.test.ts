import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);

/** The rows of docs/TESTING.md: a file, and the name of a test or of a group of tests in it. */
async function documented(): Promise<readonly (readonly [file: string, name: string])[]> {
  const page = await readFile(new URL('docs/TESTING.md', root), 'utf8');
  const rows = page.matchAll(/^\|.*\| `([^`]+\.test\.ts)`\s*\| `([^`]+)`\s*\|$/gm);
  return [...rows].map(([, file = '', name = '']) => [file, name]);
}

test('docs/TESTING.md names tests that are there', async () => {
  const rows = await documented();
  const page = await readFile(new URL('docs/TESTING.md', root), 'utf8');
  expect(rows).toHaveLength(page.match(/\.test\.ts`\s*\| /g)?.length ?? 0);
  expect(rows.length).toBeGreaterThan(70);
  const missing: string[] = [];
  for (const [file, name] of rows) {
    const text = await readFile(new URL(file, root), 'utf8').catch(() => '');
    if (!text.includes(`'${name}`)) missing.push(`${file}: ${name}`);
  }
  expect(missing).toEqual([]);
});
