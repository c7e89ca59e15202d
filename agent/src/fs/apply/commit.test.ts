import { existsSync, lstatSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Action } from '../../sync/ports/folder.ts';
import { fingerprintOf } from '../entry-stat.ts';
import { nodeSystemCalls } from '../node-system-calls.ts';
import { openPlaces } from '../open-folder.ts';
import { temporaryNames } from '../places.ts';
import { blockHash } from '../read/content-id.ts';
import { apply } from './apply.ts';

const system = nodeSystemCalls();

/** A folder with a file whose disk answers ENOENT to `rename` and `mkdir` once `happen` was called, as some FUSE programs do. */
function folderThatRefuses(happen: (root: string) => void) {
  const root = mkdtempSync(join(tmpdir(), 'lockstep-refused-name-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const path of ['.lockstep', '.lockstep/staging', '.lockstep/history', 'sub']) mkdirSync(join(root, path));
  writeFileSync(join(root, 'file'), 'a content');
  const refuse = (syscall: string, path: string, dest?: string): never => {
    happen(root);
    throw Object.assign(new Error('ENOENT'), { code: 'ENOENT', syscall, path, dest });
  };
  const { places } = openPlaces({
    root,
    realRoot: () => root,
    state: join(root, '.lockstep'),
    system: {
      ...system,
      rename: (from, to) => refuse('rename', from, to),
      mkdir: (path, mode) => (path.includes('/.lockstep/') ? system.mkdir(path, mode) : refuse('mkdir', path)),
    },
    hash: blockHash,
    memberName: 'ant',
    temporaryName: temporaryNames('t'),
  });
  return { root, try: (action: Action) => apply(places, [{ action }], undefined).results };
}

const renameIn = (root: string): Action => ({
  do: 'rename',
  from: 'file',
  to: 'sub/a:b',
  expectedFrom: fingerprintOf(lstatSync(join(root, 'file'))),
  expected: 'absent',
});
const makeIt: Action = { do: 'mkdir', path: 'sub/a:b', expected: 'absent', mode: 0o755 };
const refused = [{ result: 'problem', code: 'path-permission', detail: expect.stringContaining('name of sub/a:b') }];

test('[MT47] a name that is refused with ENOENT is a problem: nothing that was asked for is missing', () => {
  const folder = folderThatRefuses(() => undefined);
  expect(folder.try(renameIn(folder.root))).toEqual(refused);
  expect(folder.try(makeIt)).toEqual(refused);
  expect(existsSync(join(folder.root, 'file'))).toBe(true);
});

test('[MT4] an entry or a directory that disappears meanwhile is a change of a user', () => {
  const withoutDirectory = folderThatRefuses((root) => rmdirSync(join(root, 'sub')));
  expect(withoutDirectory.try(makeIt)).toEqual([{ result: 'changed' }]);
  const withoutFile = folderThatRefuses((root) => rmSync(join(root, 'file')));
  expect(withoutFile.try(renameIn(withoutFile.root))).toEqual([{ result: 'changed' }]);
});
