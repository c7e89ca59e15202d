import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../testkit/repository.ts';
import { scenes } from '../testkit/scenes/all.ts';
import { runDrills } from './main.ts';

test('docs/DRILLS.md has a row for every drill and no other rows', () => {
  const rows = read('docs', 'DRILLS.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([a-z0-9-]+)`/g)].map(([, name]) => name),
  );
  expect(named.sort()).toEqual(scenes.map(({ name }) => name).sort());
});

const read = (...path: readonly string[]): string => readFileSync(join(repositoryRoot, ...path), 'utf8');

/** The scenes that a complete test run plays by this command, on containers or on processes. */
function playedByCommand(): readonly string[] {
  const lists = [...read('scripts', 'test.mjs').matchAll(/const drillsOn\w+ = \[([^\]]*)\]/g)].map(
    ([, list = '']) => list,
  );
  expect(lists).toHaveLength(2);
  return lists.flatMap((list) => [...list.matchAll(/'([a-z0-9-]+)'/g)].map(([, name = '']) => name));
}

/** The scenes that tests play. The tests refer to them by the same constants as the array of all scenes. */
function playedByTests(): readonly string[] {
  const [, array = ''] =
    /const scenes: readonly Scene\[\] = \[([^\]]*)\]/.exec(read('testkit', 'scenes', 'all.ts')) ?? [];
  const constants = [...array.matchAll(/\w+/g)].map(([name]) => name);
  expect(constants).toHaveLength(scenes.length);
  const tests = readdirSync(join(repositoryRoot, 'agent', 'test')).filter((name) => name.endsWith('.test.ts'));
  const played = tests.flatMap((name) =>
    [...read('agent', 'test', name).matchAll(/^ *sceneTest\('.*', (\w+)\);$/gm)].map(([, scene = '']) => scene),
  );
  return scenes.filter((_, index) => played.includes(constants[index] ?? '')).map(({ name }) => name);
}

test('a complete test run plays every scene, by tests or by this command', () => {
  const [byCommand, byTests] = [playedByCommand(), playedByTests()];
  expect([...new Set([...byCommand, ...byTests])].sort()).toEqual(scenes.map(({ name }) => name).sort());
  expect(byTests.length).toBeGreaterThan(10);
});

test.each([
  ['an unknown drill', ['--local', 'fire'], 2],
  ['an unknown option', ['--fast'], 2],
  ['an invalid number', ['--minutes', 'many', '--local', 'kill'], 2],
  ['the list', ['--list'], 0],
  ['help', ['--help', 'fire'], 0],
])('%s: the exit code says whether this is wrong use', async (_what, args, code) => {
  expect(await runDrills(args)).toBe(code);
});
