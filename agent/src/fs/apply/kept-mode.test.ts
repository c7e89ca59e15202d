import { lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Fingerprint } from '../../core/entry.ts';
import type { Action } from '../../sync/ports/folder.ts';
import { fingerprintOf } from '../entry-stat.ts';
import { nodeSystemCalls } from '../node-system-calls.ts';
import { openPlaces } from '../open-folder.ts';
import { temporaryNames } from '../places.ts';
import { blockHash } from '../read/content-id.ts';
import type { SystemCalls } from '../system-calls.ts';
import { apply } from './apply.ts';

const shown = { file: 0o644, directory: 0o755 };

/** A file system that gives each entry the same mode, whatever is asked for. */
function withoutModes(): SystemCalls {
  const system = nodeSystemCalls();
  return { ...system, mkdir: (path) => system.mkdir(path, shown.directory), chmod: () => {}, fchmod: () => {} };
}

const actions: readonly (readonly [string, number, (at: (path: string) => Fingerprint) => Action])[] = [
  ['file', shown.file, (at) => ({ do: 'attr', path: 'file', expected: at('file'), mode: 0o600 })],
  ['old', shown.directory, (at) => ({ do: 'attr', path: 'old', expected: at('old'), mode: 0o700 })],
  ['old', shown.directory, (at) => ({ do: 'mkdir', path: 'old', expected: at('old'), mode: 0o700 })],
  ['new', shown.directory, () => ({ do: 'mkdir', path: 'new', expected: 'absent', mode: 0o700 })],
  ['file', shown.directory, (at) => ({ do: 'mkdir', path: 'file', expected: at('file'), mode: 0o700 })],
  [
    'moved',
    shown.file,
    (at) => ({ do: 'rename', from: 'file', to: 'moved', expectedFrom: at('file'), expected: 'absent', mode: 0o600 }),
  ],
];

test.each(actions)('[LC43] %s is done where its mode stays %o', (path, mode, action) => {
  const root = mkdtempSync(join(tmpdir(), 'lockstep-modes-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, '.lockstep'));
  mkdirSync(join(root, 'old'), { mode: shown.directory });
  writeFileSync(join(root, 'file'), 'text', { mode: shown.file });
  const { places } = openPlaces({
    root,
    realRoot: () => root,
    state: join(root, '.lockstep'),
    system: withoutModes(),
    hash: blockHash,
    memberName: 'ant',
    temporaryName: temporaryNames('t'),
  });
  const at = (name: string): Fingerprint => fingerprintOf(lstatSync(join(root, name)));
  const { results } = apply(places, [{ action: action(at) }], undefined);
  expect(results).toMatchObject([{ result: 'done', fingerprint: at(path) }]);
  expect(at(path).mode & 0o777).toBe(mode);
});
