import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { nodeSystemCalls } from '../node-system-calls.ts';
import { openPlaces } from '../open-folder.ts';
import { temporaryNames } from '../places.ts';
import { blockHash } from './content-id.ts';
import { observe } from './observe.ts';

const system = nodeSystemCalls();

// Simulator, seed 223000: the disk seemed to have failed, and the file was not read for a while.
test('[MT4] a link that a user replaces by a file while it is read is a change', () => {
  const root = mkdtempSync(join(tmpdir(), 'lockstep-observe-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const path of ['.lockstep', '.lockstep/staging', '.lockstep/history']) mkdirSync(join(root, path));
  symlinkSync('target', join(root, 'name'));
  const { places } = openPlaces({
    root,
    realRoot: () => root,
    state: join(root, '.lockstep'),
    system: {
      ...system,
      readlink: (path) => {
        writeFileSync(join(root, 'new'), 'a file');
        renameSync(join(root, 'new'), join(root, 'name'));
        return system.readlink(path);
      },
    },
    hash: blockHash,
    memberName: 'ant',
    temporaryName: temporaryNames('t'),
  });
  expect(observe(places, [{ path: 'name' }])).toEqual([{ path: 'name', state: 'changing' }]);
});
