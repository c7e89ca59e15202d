import { execFileSync } from 'node:child_process';
import { closeSync, lstatSync, mkdtempSync, openSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mtimeUsOf } from '../entry-stat.ts';
import { nodeSystemCalls } from '../node-system-calls.ts';

const system = nodeSystemCalls();
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-times-'));
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** From 1910 to 2100. */
const anyMtimeUs = fc.integer({ min: -1_893_456_000_000_000, max: 4_102_444_800_000_000 });

test('[LC11] a time in microseconds is set exactly, on a file and on a link', () => {
  const fd = openSync(join(directory, 'file'), 'w');
  symlinkSync('nowhere', join(directory, 'link'));
  const timeOf = (name: string): bigint => lstatSync(join(directory, name), { bigint: true }).mtimeNs / 1000n;
  fc.assert(
    fc.property(anyMtimeUs, (mtimeUs) => {
      system.futimes(fd, mtimeUs);
      system.lutimes(join(directory, 'link'), mtimeUs);
      expect([timeOf('file'), timeOf('link')]).toEqual([BigInt(mtimeUs), BigInt(mtimeUs)]);
    }),
  );
  closeSync(fd);
});

test('[LC11] a time in nanoseconds is rounded down to microseconds, of a file and of a link', () => {
  const [file, link] = [join(directory, 'fine'), join(directory, 'fine-link')];
  closeSync(openSync(file, 'w'));
  symlinkSync('nowhere', link);
  // From 1910 to 2100. As a number of milliseconds, nanoseconds near the next microsecond would be rounded up to it.
  const anyTime = fc.record({
    seconds: fc.integer({ min: -1_893_456_000, max: 4_102_444_800 }),
    us: fc.integer({ min: 0, max: 999_999 }),
    ns: fc.oneof(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 875, max: 999 })),
  });
  fc.assert(
    fc.property(anyTime, ({ seconds, us, ns }) => {
      const mtimeNs = BigInt(seconds) * 1_000_000_000n + BigInt(us * 1_000 + ns);
      const digits = String(mtimeNs < 0n ? -mtimeNs : mtimeNs).padStart(10, '0');
      const text = `${mtimeNs < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`;
      execFileSync('touch', ['-h', '-d', `@${text}`, file, link]);
      expect(lstatSync(file, { bigint: true }).mtimeNs, text).toBe(mtimeNs);
      const expected = seconds * 1_000_000 + us;
      expect([mtimeUsOf(system, file), mtimeUsOf(system, link)], text).toEqual([expected, expected]);
    }),
  );
});
