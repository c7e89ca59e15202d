import { lstatSync, type Stats } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fileTimeStepMsMax } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { fingerprintOf, hasContentOf, hasFingerprint, isRacy, isRacyAfterPlacing } from './entry-stat.ts';

const nowMs = 1_700_000_000_000;
const longAgoMs = nowMs - 1_000_000;

/** The stats of a file, with some numbers replaced. */
function fileStats(more: Partial<Record<'ino' | 'size' | 'mtimeMs' | 'ctimeMs' | 'mode', number>>): Stats {
  const stats = lstatSync(fileURLToPath(import.meta.url));
  return Object.assign(stats, { mtimeMs: longAgoMs, ctimeMs: longAgoMs }, more);
}

describe('racy', () => {
  test.each([
    ['changed long ago', {}, false, false],
    ['changed just now', { ctimeMs: nowMs - fileTimeStepMsMax + 1 }, true, false],
    ['changed just long enough ago', { ctimeMs: nowMs - fileTimeStepMsMax }, false, false],
    ['modified just now', { ctimeMs: nowMs, mtimeMs: nowMs - 1 }, true, true],
    ['modified just now, on a file system without change times', { mtimeMs: nowMs - 1 }, true, true],
    ['given a time far in the future', { mtimeMs: nowMs + 1_000_000 }, false, false],
    ['changed while the clock was ahead', { ctimeMs: nowMs + 1_000_000 }, false, false],
    ['changed while the clock was a moment ahead', { ctimeMs: nowMs + fileTimeStepMsMax - 1 }, true, false],
    ['placed with a time a moment ahead', { ctimeMs: nowMs, mtimeMs: nowMs + fileTimeStepMsMax - 1 }, true, true],
  ])('%s', (_name, times, racy, racyAfterPlacing) => {
    const stats = fileStats(times);
    expect(isRacy(stats, nowMs)).toBe(racy);
    expect(isRacyAfterPlacing(stats, nowMs)).toBe(racyAfterPlacing);
  });
});

describe('fingerprints', () => {
  test.each(['ino', 'size', 'mtimeMs', 'ctimeMs', 'mode'] as const)('%s counts for a file', (field) => {
    const stats = fileStats({});
    const expected = fingerprintOf(stats);
    expect(hasFingerprint(stats, expected)).toBe(true);
    const other = { ...expected, [field]: expected[field] + 1 };
    expect(hasFingerprint(stats, other)).toBe(false);
    expect(hasContentOf(stats, other)).toBe(field === 'ctimeMs');
  });

  test.each(['size', 'mtimeMs', 'ctimeMs'] as const)('%s does not count for a directory', (field) => {
    const stats = lstatSync(fileURLToPath(new URL('.', import.meta.url)));
    const expected = fingerprintOf(stats);
    expect(hasFingerprint(stats, { ...expected, [field]: expected[field] + 1 })).toBe(true);
    expect(hasFingerprint(stats, { ...expected, ino: expected.ino + 1 })).toBe(false);
  });
});
