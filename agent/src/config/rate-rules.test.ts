import { describe, expect, test } from 'vitest';
import { rateRules } from './rate-rules.ts';

const mebibyte = 1_048_576;

describe('[CT23] the rules of a limit', () => {
  test.each<[string | string[], object[]]>([
    ['none', []],
    [[], []],
    ['2 MiB/s', [{ bytesPerSecond: 2 * mebibyte }]],
    [' 512KiB/s ', [{ bytesPerSecond: mebibyte / 2 }]],
    ['1.5 MiB/s cat', [{ bytesPerSecond: 1.5 * mebibyte, member: 'cat' }]],
    ['2 MiB/s 08:00-18:00', [{ bytesPerSecond: 2 * mebibyte, hours: { from: 480, to: 1_080 } }]],
    [
      '2 MiB/s 8:00 - 24:00 cat-2.b',
      [{ bytesPerSecond: 2 * mebibyte, hours: { from: 480, to: 1_440 }, member: 'cat-2.b' }],
    ],
    [
      '10 MiB/s, 2 MiB/s 22:00-06:00',
      [{ bytesPerSecond: 10 * mebibyte }, { bytesPerSecond: 2 * mebibyte, hours: { from: 1_320, to: 360 } }],
    ],
    [
      ['10 MiB/s', '1 MiB/s cat'],
      [{ bytesPerSecond: 10 * mebibyte }, { bytesPerSecond: mebibyte, member: 'cat' }],
    ],
  ])('%j', (value, rules) => {
    expect(rateRules.safeParse(value).data).toEqual(rules);
  });

  test.each<[string, unknown]>([
    ['no unit of time', '2 MiB'],
    ['per hour', '2 MiB/h'],
    ['another unit', '2 MB/s'],
    ['below the least rate', '15 KiB/s'],
    ['nothing', ''],
    ['a rule that is empty', '2 MiB/s,'],
    ['none with a member', 'none cat'],
    ['none with another rule', ['none', '2 MiB/s']],
    ['an hour that no clock shows', '2 MiB/s 08:00-25:00'],
    ['a minute that no clock shows', '2 MiB/s 08:60-18:00'],
    ['a time after midnight of the day', '2 MiB/s 08:00-24:01'],
    ['a begin at 24:00', '2 MiB/s 24:00-06:00'],
    ['hours without a length', '2 MiB/s 08:00-08:00'],
    ['an hour without an end', '2 MiB/s 08:00'],
    ['a member before the hours', '2 MiB/s cat 08:00-18:00'],
    ['a name that is none', '2 MiB/s c/t'],
    ['two members', '2 MiB/s ant bee'],
    ['a number', 7],
    ['more rules than a person needs', Array.from({ length: 129 }, () => '2 MiB/s')],
  ])('%s is refused', (_what, value) => {
    expect(rateRules.safeParse(value).success).toBe(false);
  });

  test('a rule of a list that is none is named by its place', () => {
    expect(rateRules.safeParse(['2 MiB/s', 'fast']).error?.issues[0]?.path).toEqual([1]);
  });
});
