import { describe, expect, test } from 'vitest';
import { limitedMembers, type RateRule, rateAt, rateSpans } from './rate-rules.ts';

const none = Number.POSITIVE_INFINITY;

/** The minute of the day of a time such as 18:00. */
function at(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

function rule(bytesPerSecond: number, hours?: string, member?: string): RateRule {
  const [from = '', to = ''] = hours?.split('-') ?? [];
  return { bytesPerSecond, member, hours: hours === undefined ? undefined : { from: at(from), to: at(to) } };
}

describe('[CT23] the rate at a minute of the local day', () => {
  const work = [rule(10), rule(2, '08:00-18:00'), rule(1, undefined, 'cat'), rule(3, '22:00-06:00', 'cat')];
  const night = [rule(5, '22:00-06:00')];

  test.each<[string, readonly RateRule[], string, string | undefined, number]>([
    ['no rule is no limit', [], '12:00', undefined, none],
    ['a rule without hours always holds', [rule(10)], '12:00', undefined, 10],
    ['the lowest of those that hold binds', work, '12:00', undefined, 2],
    ['the first minute is in', work, '08:00', undefined, 2],
    ['the last one is not', work, '18:00', undefined, 10],
    ['the minute before is out', work, '07:59', undefined, 10],
    ['a rule for a member limits it', work, '12:00', 'cat', 1],
    ['a rule that is not lower does not bind', work, '23:00', 'cat', 1],
    ['a member without a rule has no limit of its own', work, '12:00', 'bee', none],
    ['before midnight', night, '23:59', undefined, 5],
    ['at midnight', night, '00:00', undefined, 5],
    ['after midnight', night, '05:59', undefined, 5],
    ['the end after midnight', night, '06:00', undefined, none],
    ['hours up to midnight', [rule(5, '18:00-24:00')], '23:59', undefined, 5],
    ['hours up to midnight end there', [rule(5, '18:00-24:00')], '00:00', undefined, none],
    ['hours up to 00:00 are the same', [rule(5, '18:00-00:00')], '23:59', undefined, 5],
    ['the whole day', [rule(5, '00:00-24:00')], '00:00', undefined, 5],
    // In the night to summer time no clock shows 02:30: after 01:59 comes 03:00.
    ['hours that begin in an hour that is left out', [rule(5, '02:30-04:00')], '03:00', undefined, 5],
    ['hours that lie in an hour that is left out', [rule(5, '02:15-02:45')], '03:00', undefined, none],
  ])('%s', (_what, rules, minute, member, rate) => {
    expect(rateAt(rules, at(minute), member)).toBe(rate);
  });
});

describe('[CT23] the rates of a day', () => {
  test.each<[string, readonly RateRule[], string, string | undefined, readonly (readonly [number, string?])[]]>([
    ['no rule', [], '12:00', undefined, [[none]]],
    ['one for all hours', [rule(10)], '12:00', undefined, [[10]]],
    [
      'hours that have begun',
      [rule(2, '08:00-18:00')],
      '12:00',
      undefined,
      [
        [2, '18:00'],
        [none, '08:00'],
      ],
    ],
    [
      'hours to come',
      [rule(2, '08:00-18:00')],
      '19:00',
      undefined,
      [
        [none, '08:00'],
        [2, '18:00'],
      ],
    ],
    [
      'hours that begin now',
      [rule(2, '08:00-18:00')],
      '08:00',
      undefined,
      [
        [2, '18:00'],
        [none, '08:00'],
      ],
    ],
    [
      'across midnight',
      [rule(5, '22:00-06:00')],
      '23:00',
      undefined,
      [
        [5, '06:00'],
        [none, '22:00'],
      ],
    ],
    [
      'up to midnight',
      [rule(5, '18:00-24:00')],
      '20:00',
      undefined,
      [
        [5, '00:00'],
        [none, '18:00'],
      ],
    ],
    ['the whole day', [rule(5, '00:00-24:00')], '20:00', undefined, [[5]]],
    ['hours without an effect', [rule(5), rule(7, '08:00-18:00')], '12:00', undefined, [[5]]],
    [
      'hours that touch and overlap',
      [rule(5, '08:00-12:00'), rule(5, '12:00-14:00'), rule(2, '13:00-15:00')],
      '09:00',
      undefined,
      [
        [5, '13:00'],
        [2, '15:00'],
        [none, '08:00'],
      ],
    ],
    [
      'those of a member',
      [rule(9), rule(2, '08:00-18:00', 'cat')],
      '12:00',
      'cat',
      [
        [2, '18:00'],
        [none, '08:00'],
      ],
    ],
    ['all together with it', [rule(9), rule(2, '08:00-18:00', 'cat')], '12:00', undefined, [[9]]],
  ])('%s', (_what, rules, minute, member, spans) => {
    expect(rateSpans(rules, at(minute), member)).toEqual(
      spans.map(([bytesPerSecond, until]) => ({
        bytesPerSecond,
        until: until === undefined ? undefined : at(until),
      })),
    );
  });

  test('the members with rules are listed once', () => {
    expect(limitedMembers([rule(1), rule(2, undefined, 'cat'), rule(3, '08:00-09:00', 'cat')])).toEqual(['cat']);
  });
});
