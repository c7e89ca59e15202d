import { lstatSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OriginId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { fingerprintOf } from '../entry-stat.ts';
import { nodeSystemCalls } from '../node-system-calls.ts';
import type { Places } from '../places.ts';
import { blockHash, singleBlockId } from '../read/content-id.ts';
import type { SystemCalls } from '../system-calls.ts';
import { textsIn, tried } from './_tried.ts';
import { clearStaging } from './left-files.ts';
import { TakenVersion } from './replaced-version.ts';

// Simulator, seed 223971: no agent started in that folder any more.
describe('an agent was killed when it had taken a file away', () => {
  /** The folder after the next start, with the row of the file, or one with its inode number. */
  function startedAgain(row: { readonly path: string; readonly birthMs: number }, changed: Partial<Places>) {
    const { places, folder, staging, target, expected } = tried();
    TakenVersion.take(places, target, expected, undefined);
    expect(readdirSync(staging)).toHaveLength(1);
    const fingerprint = { ...expected, birthMs: row.birthMs };
    const rows = [{ path: row.path, dot: { origin: 'ant.1' as OriginId, seq: 1 }, fingerprint }];
    clearStaging({ ...places, ...changed }, { withInode: (ino) => (ino === expected.ino ? rows : []) });
    expect(readdirSync(staging)).toEqual([]);
    return textsIn(folder);
  }

  test('[MT30] it is not taken for one with its inode number on another disk', () => {
    const disk = { path: 'disk', ino: 2, type: 1, blocks: 1, isOwnDevice: true };
    expect(startedAgain({ path: 'disk/other', birthMs: 1 }, { mounts: { accepted: [disk], foreign: [] } })).toEqual({});
  });

  test.each([
    ['is hidden under a mount', 'EXDEV'],
    ['may not be written to', 'EACCES'],
  ])('[MT4] another file that it took comes back above a directory that %s', (_, code) => {
    const real = nodeSystemCalls();
    const refuse = (): never => {
      throw Object.assign(new Error('refused'), { code });
    };
    const isBelow = (path: string): boolean => realpathSync(join(path, '..')).endsWith('/sub');
    const system: SystemCalls = {
      ...real,
      link: (existing, name) => (isBelow(name) ? refuse() : real.link(existing, name)),
      rename: (from, to) => (isBelow(to) ? refuse() : real.rename(from, to)),
    };
    expect(startedAgain({ path: 'sub/file', birthMs: 1 }, { system })).toEqual({ 'file.conflict-T-ant': 'old' });
  });

  test('[MT4] the error of the uppermost directory is thrown if all are closed', () => {
    const refuse = (): never => {
      throw Object.assign(new Error('the disk is read-only'), { code: 'EROFS' });
    };
    const system: SystemCalls = { ...nodeSystemCalls(), link: refuse, rename: refuse };
    expect(() => startedAgain({ path: 'sub/file', birthMs: 1 }, { system })).toThrow('the disk is read-only');
  });
});

// The simulator's worlds with many crashes: half of a file that was being copied became a conflict copy.
test('[MT4] a file that the agent was making is removed, also if it has the inode number of one that a user removed', () => {
  const { places, folder, staging } = tried();
  const name = join(staging, places.temporaryName());
  writeFileSync(name, 'half of a content');
  const { birthMs: _, ...found } = fingerprintOf(lstatSync(name));
  const fingerprint = { ...found, size: 3, mtimeMs: 1 };
  const content = singleBlockId(blockHash, Buffer.from('old'));
  const row = { path: 'removed', dot: { origin: 'ant.1' as OriginId, seq: 1 }, content, fingerprint };
  clearStaging(places, { withInode: (ino) => (ino === found.ino ? [row] : []) });
  expect(readdirSync(staging)).toEqual([]);
  expect(textsIn(folder)).toEqual({ 'sub/file': 'old' });
});
