import { describe, expect, test } from 'vitest';
import { formatBytes, formatDuration, formatItems, formatNames, formatRoundTrip } from './units.ts';

describe('numbers as people read them', () => {
  test.each<[string, string]>([
    [formatBytes(0), '0 B'],
    [formatBytes(999), '999 B'],
    [formatBytes(1_000), '1 kB'],
    [formatBytes(1_250), '1.3 kB'],
    [formatBytes(999_949), '1,000 kB'],
    [formatBytes(999_950), '1 MB'],
    [formatBytes(123_456_789), '123 MB'],
    [formatBytes(80_000_000_000), '80 GB'],
    [formatBytes(5e18), '5,000 PB'],
    [formatRoundTrip(0.04), '0 ms'],
    [formatRoundTrip(0.43), '0.4 ms'],
    [formatRoundTrip(23.4), '23 ms'],
    [formatRoundTrip(1_234), '1.2 s'],
    [formatDuration(0.4), '0 s'],
    [formatDuration(42), '42 s'],
    [formatDuration(59.7), '60 s'],
    [formatDuration(60), '1 min'],
    [formatDuration(7_300), '2 h'],
    [formatDuration(86_400), '1 day'],
    [formatDuration(200_000), '2 days'],
    [formatItems(1, 'file'), '1 file'],
    [formatItems(1_204, 'file'), '1,204 files'],
    [formatNames([]), ''],
    [formatNames(['ant']), 'ant'],
    [formatNames(['ant', 'bee']), 'ant and bee'],
    [formatNames(['ant', 'bee', 'cat']), 'ant, bee and cat'],
  ])('%s', (text, expected) => {
    expect(text).toBe(expected);
  });
});
