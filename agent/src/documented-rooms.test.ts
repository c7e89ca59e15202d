import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const source = fileURLToPath(new URL('.', import.meta.url));
const page = readFileSync(`${source}../../ARCHITECTURE.md`, 'utf8');

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: source,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'));

/** The names of the folders in `folder`, with a slash, and of the sources that lie loose there. */
function listed(folder: string): readonly string[] {
  const inside = files.filter((path) => path.startsWith(folder)).map((path) => path.slice(folder.length));
  return [...new Set(inside.map((path) => /^[^/]+\/?/.exec(path)?.[0] ?? ''))];
}

/** The rooms of `sync/` with their floors, as the page has them. */
const floors = new Map(
  Array.from(page.matchAll(/^\| (\d+) +\| `(\S+)` +\|/gm), ([, floor, room = '']) => [room, Number(floor)]),
);

test('the page has each room and each loose file of sync/', () => {
  expect([...floors.keys()].toSorted()).toEqual(listed('sync/').toSorted());
});

test('the linter permits a room of sync/ the rooms on the floors below it, and no other', () => {
  const rules: {
    overrides: { includes: string[]; linter: { rules: { style: { noRestrictedImports: { options: Options } } } } }[];
  } = JSON.parse(readFileSync(`${source}sync/biome.json`, 'utf8'));
  interface Options {
    patterns: { group: string[] }[];
  }
  const permitted = new Map(
    rules.overrides.slice(1).flatMap(({ includes, linter }) => {
      const { patterns } = linter.rules.style.noRestrictedImports.options;
      const rooms = patterns.flatMap(({ group }) =>
        group.flatMap((each) => /^!\.\.\/([^./].*\/)\*\*$/.exec(each)?.[1] ?? []),
      );
      return includes.flatMap((each) =>
        each.startsWith('!') ? [] : [[each.replace('**', ''), rooms.toSorted()] as const],
      );
    }),
  );
  const below = (floor: number) => [...floors].flatMap(([room, other]) => (other < floor ? room : [])).toSorted();
  const described = [...floors].flatMap(([room, floor]) => (room.endsWith('/') ? [[room, below(floor)] as const] : []));
  expect(Object.fromEntries(permitted)).toEqual(Object.fromEntries(described));
});

test('the page names each folder of the agent, and each room in it', () => {
  const folders = listed('').filter((name) => name.endsWith('/'));
  const rooms = folders.flatMap((folder) => listed(folder).filter((name) => name.endsWith('/')));
  expect(rooms.length).toBeGreaterThan(40);
  const isNamed = (name: string): boolean => new RegExp(`\`(?:[\\w/-]+/)?${name}\``).test(page);
  expect([...folders, ...rooms].filter((name) => !isNamed(name))).toEqual([]);
});
