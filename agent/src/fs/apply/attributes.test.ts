import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { fingerprintOf } from '../entry-stat.ts';
import { nodeSystemCalls } from '../node-system-calls.ts';
import type { SystemCalls } from '../system-calls.ts';
import { setAttributes } from './attributes.ts';

let file: string;

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-attributes-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  file = join(folder, 'file');
  writeFileSync(file, 'text');
  utimesSync(file, 1, 1);
});

/** Sets `mtimeUs` by calls of which `futimes` is replaced. Returns the time that counts as kept. */
function setTime(mtimeUs: number, futimes: (system: SystemCalls, fd: number, us: number) => void): number | undefined {
  const system = nodeSystemCalls();
  const stats = system.lstat(file);
  if (stats === undefined) throw new Error('the file is gone');
  const calls = { ...system, futimes: (fd: number, us: number) => futimes(system, fd, us) };
  return setAttributes(calls, file, fingerprintOf(stats), { mtimeUs }).mtimeUs;
}

describe('[LC20] the time that a file system keeps', () => {
  test('is the one that was set', () => {
    expect(setTime(5_000_000, (system, fd, us) => system.futimes(fd, us))).toBe(5_000_000);
    expect(setTime(5_000_000, (system, fd, us) => system.futimes(fd, us))).toBeUndefined();
  });

  test('is the nearest one on a file system with steps of two seconds', () => {
    expect(setTime(5_000_000, (system, fd, us) => system.futimes(fd, us - (us % 2_000_000)))).toBe(4_000_000);
  });

  test('is not one that a program sets at the same moment', () => {
    const others = [7_000_000, 9_000_000];
    expect(setTime(5_000_000, (system, fd) => system.futimes(fd, others.shift() ?? 0))).toBe(5_000_000);
  });
});
