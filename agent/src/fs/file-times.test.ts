import { closeSync, futimesSync, lstatSync, lutimesSync, mkdtempSync, openSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { secondsOf } from './file-times.ts';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-times-'));
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** From 1910 to 2100. */
const anyMtimeUs = fc.integer({ min: -1_893_456_000_000_000, max: 4_102_444_800_000_000 });

test('[LC11] a time to the microsecond survives, of a file and of a link', () => {
  const fd = openSync(join(directory, 'file'), 'w');
  symlinkSync('nowhere', join(directory, 'link'));
  const mtimeUsOf = (name: string): bigint => lstatSync(join(directory, name), { bigint: true }).mtimeNs / 1000n;
  fc.assert(
    fc.property(anyMtimeUs, (mtimeUs) => {
      futimesSync(fd, secondsOf(mtimeUs), secondsOf(mtimeUs));
      lutimesSync(join(directory, 'link'), secondsOf(mtimeUs), secondsOf(mtimeUs));
      expect([mtimeUsOf('file'), mtimeUsOf('link')]).toEqual([BigInt(mtimeUs), BigInt(mtimeUs)]);
    }),
  );
  closeSync(fd);
});
