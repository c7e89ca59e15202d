import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../testkit/repository.ts';
import { drills } from '../testkit/scenes/all.ts';
import { runDrills } from './main.ts';

test('docs/DRILLS.md has a row for every drill, and no other', () => {
  const page = readFileSync(join(repositoryRoot, 'docs', 'DRILLS.md'), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([a-z0-9-]+)`/g)].map(([, name]) => name),
  );
  expect(named.sort()).toEqual(drills.map(({ name }) => name).sort());
});

test('a complete test run does every drill once, on containers or on processes', () => {
  const script = readFileSync(join(repositoryRoot, 'scripts', 'test.mjs'), 'utf8');
  const lists = [...script.matchAll(/const drillsOn\w+ = \[([^\]]*)\]/g)].map(([, list = '']) => list);
  const named = lists.flatMap((list) => [...list.matchAll(/'([a-z0-9-]+)'/g)].map(([, name]) => name));
  expect(lists).toHaveLength(2);
  expect(named.sort()).toEqual(drills.map(({ name }) => name).sort());
});

test.each([
  ['a drill that there is not', ['--local', 'fire'], 2],
  ['an option that there is not', ['--fast'], 2],
  ['a number that is none', ['--minutes', 'many', '--local', 'kill'], 2],
  ['the list', ['--list'], 0],
  ['help', ['--help', 'fire'], 0],
])('%s: the exit code says whether it was wrong use', async (_what, args, code) => {
  expect(await runDrills(args)).toBe(code);
});
