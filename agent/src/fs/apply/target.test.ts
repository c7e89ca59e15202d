import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fingerprintOf } from '../entry-stat.ts';
import { nodeSystemCalls } from '../node-system-calls.ts';
import { openPlaces } from '../open-folder.ts';
import { temporaryNames } from '../places.ts';
import { blockHash } from '../read/content-id.ts';
import { apply } from './apply.ts';

// Simulator, seed 110746: the file was replaced.
test('[MT4] a file that a user makes at a new name while its directory is opened stays', () => {
  const root = mkdtempSync(join(tmpdir(), 'lockstep-read-only-'));
  const [from, to] = [join(root, 'file'), join(root, 'closed', 'file')];
  for (const path of ['.lockstep', '.lockstep/staging', '.lockstep/history', 'closed']) mkdirSync(join(root, path));
  writeFileSync(from, 'renamed');
  chmodSync(join(root, 'closed'), 0o555);
  onTestFinished(() => {
    chmodSync(join(root, 'closed'), 0o755);
    rmSync(root, { recursive: true });
  });
  const system = nodeSystemCalls();
  const fchmod = (descriptor: number, mode: number): void => {
    system.fchmod(descriptor, mode);
    if ((mode & 0o200) !== 0) writeFileSync(to, 'of a user');
  };
  const { places } = openPlaces({
    root,
    realRoot: () => root,
    state: join(root, '.lockstep'),
    system: { ...system, fchmod },
    hash: blockHash,
    memberName: 'ant',
    temporaryName: temporaryNames('t'),
  });
  const expectedFrom = fingerprintOf(lstatSync(from));
  const action = { do: 'rename', from: 'file', to: 'closed/file', expectedFrom, expected: 'absent' } as const;
  expect(apply(places, [{ action }], undefined).results).toEqual([{ result: 'changed' }]);
  expect(readFileSync(to, 'utf8')).toBe('of a user');
  expect(readFileSync(from, 'utf8')).toBe('renamed');
  expect(lstatSync(join(root, 'closed')).mode & 0o777).toBe(0o555);
});
