import { execFileSync } from 'node:child_process';
import { closeSync, lstatSync, mkdtempSync, openSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mtimeUsOf } from './entry-stat.ts';
import { nodeSystemCalls } from './node-system-calls.ts';

const system = nodeSystemCalls();
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-times-'));
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

interface FineTime {
  readonly seconds: number;
  readonly us: number;
  readonly ns: number;
}

const nanosecondsOf = ({ seconds, us, ns }: FineTime): bigint =>
  BigInt(seconds) * 1_000_000_000n + BigInt(us * 1_000 + ns);

/** As `touch -d @` reads it: seconds with nine decimals, before 1970 with a minus. */
function secondsOf(time: FineTime | undefined): string {
  const nanoseconds = nanosecondsOf(time ?? expect.fail());
  const digits = String(nanoseconds < 0n ? -nanoseconds : nanoseconds).padStart(10, '0');
  return `${nanoseconds < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

/** From 1910 to 2100. */
const anyMtimeUs = fc.integer({ min: -1_893_456_000_000_000, max: 4_102_444_800_000_000 });

test('[LC11] a time in microseconds is set exactly, on a file and on a link', () => {
  const fd = openSync(join(directory, 'file'), 'w');
  symlinkSync('nowhere', join(directory, 'link'));
  const timeOf = (name: string): number => mtimeUsOf(system, join(directory, name));
  fc.assert(
    fc.property(anyMtimeUs, (mtimeUs) => {
      system.futimes(fd, mtimeUs);
      system.lutimes(join(directory, 'link'), mtimeUs);
      expect([timeOf('file'), timeOf('link')]).toEqual([mtimeUs, mtimeUs]);
    }),
  );
  closeSync(fd);
});

test.each([0, 1_500_000_000, -1_500_000_000])('[LC11] whole seconds (%d) are set to the nanosecond', (seconds) => {
  const [file, link] = [join(directory, 'whole'), join(directory, 'whole-link')];
  const fd = openSync(file, 'w');
  symlinkSync('nowhere', link);
  system.futimes(fd, seconds * 1e6);
  system.lutimes(link, seconds * 1e6);
  const times = [file, link].map((path) => lstatSync(path, { bigint: true }).mtimeNs);
  expect(times).toEqual([BigInt(seconds * 1e9), BigInt(seconds * 1e9)]);
  closeSync(fd);
  rmSync(link);
});

test('[LC11] a time in nanoseconds is rounded down to microseconds, of a file and of a link', () => {
  const names = Array.from({ length: 25 }, (_, index): [string, string] => [`fine-${index}`, `fine-link-${index}`]);
  for (const [file, link] of names) {
    closeSync(openSync(join(directory, file), 'w'));
    symlinkSync('nowhere', join(directory, link));
  }
  // From 1910 to 2100. As a number of milliseconds, nanoseconds near the next microsecond would be rounded up to it.
  const anyTime = fc.record({
    seconds: fc.integer({ min: -1_893_456_000, max: 4_102_444_800 }),
    us: fc.integer({ min: 0, max: 999_999 }),
    ns: fc.oneof(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 875, max: 999 })),
  });
  const length = names.length;
  // One shell sets all of them: to start a program from here takes up to half a second, as the process that runs all unit tests is large.
  fc.assert(
    fc.property(fc.array(anyTime, { minLength: length, maxLength: length }), (times) => {
      const commands = names.map(([file, link], index) => `touch -h -d @${secondsOf(times[index])} ${file} ${link}`);
      execFileSync('sh', ['-ec', commands.join('\n')], { cwd: directory });
      for (const [index, [file, link]] of names.entries()) {
        const { seconds, us, ns } = times[index] ?? expect.fail();
        const [filePath, linkPath] = [join(directory, file), join(directory, link)];
        expect(lstatSync(filePath, { bigint: true }).mtimeNs).toBe(nanosecondsOf({ seconds, us, ns }));
        const expected = seconds * 1_000_000 + us;
        expect([mtimeUsOf(system, filePath), mtimeUsOf(system, linkPath)]).toEqual([expected, expected]);
      }
    }),
    { numRuns: 4 },
  );
});
