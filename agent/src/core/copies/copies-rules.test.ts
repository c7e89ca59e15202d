import type { CopiesRule, MemberId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { adviceOfOverfull, CopiesRules, patternFault } from './copies-rules.ts';

const ant = 'a'.repeat(52) as MemberId;
const bee = 'b'.repeat(52) as MemberId;

const rule = (pattern: string, copies: CopiesRule['copies'], at: number): CopiesRule => ({ pattern, copies, at });

test('[CP1] without rules, the contents are on all members with the whole folder', () => {
  const rules = new CopiesRules([{ id: ant }]);
  expect([rules.copiesOf('a'), rules.areTrivial, rules.active]).toEqual(['all', true, []]);
});

test('[CP1] of the rules for a pattern the last one holds, on whichever member it was set', () => {
  const rules = new CopiesRules([
    { id: bee, copies: [rule('', 3, 20), rule('*.iso', 1, 10)] },
    { id: ant, copies: [rule('', 2, 10), rule('*.iso', null, 11)] },
  ]);
  expect(rules.active).toEqual([{ pattern: '', copies: 3 }]);
  expect(rules.copiesOf('d/x.iso')).toBe(3);
});

test('[CP1] of two that were set in the same millisecond all members choose the same', () => {
  const records = [
    { id: ant, copies: [rule('', 2, 10)] },
    { id: bee, copies: [rule('', 3, 10)] },
  ];
  expect(new CopiesRules(records).copiesOf('a')).toBe(3);
  expect(new CopiesRules(records.toReversed()).copiesOf('a')).toBe(3);
});

test('[CP1] a pattern goes before the rule for all files, and of several that match the largest number holds', () => {
  const rules = new CopiesRules([
    { id: ant, copies: [rule('', 2, 1), rule('films/', 1, 2), rule('*.master', 3, 3), rule('/papers/**', 'all', 4)] },
  ]);
  expect(['a', 'films/b', 'films/c.master', 'papers/d.master'].map((path) => rules.copiesOf(path))).toEqual([
    2,
    1,
    3,
    'all',
  ]);
});

test.each(['!a', '# a', ' ', 'a ', './x', '../x', 'a//b', '.lockstep/', '/', 'a\nb', '[a', 'a\\'])(
  '[CP1] %j is no pattern of a rule',
  (pattern) => {
    expect(patternFault(pattern)).toMatch(/\.$|:|it/);
  },
);

test.each(['*.iso', 'films/', '/a/**/b', '[ab]'])('[CP1] %j is a pattern of a rule', (pattern) => {
  expect(patternFault(pattern)).toBeUndefined();
});

test.each([
  ['no rule', [], 'have others keep copies (lockstep copies 2).'],
  ['a rule for all files', [rule('', 2, 1)], 'unpin something, or have fewer copies: lockstep copies 1.'],
  ['one copy of all files', [rule('', 1, 1)], 'add one, or unpin something.'],
  [
    'only a rule for a pattern',
    [rule('films/', 2, 1)],
    'have others keep the files without a rule too (lockstep copies 2), or lower the numbers of the patterns (lockstep copies lists them).',
  ],
  [
    'one copy of a pattern',
    [rule('films/', 1, 1)],
    'unpin something, or have others keep the files without a rule too (lockstep copies 2).',
  ],
  [
    'a rule for all and one for a pattern',
    [rule('', 2, 1), rule('films/', 3, 2)],
    'have fewer copies: lockstep copies 1, or lower the numbers of the patterns (lockstep copies lists them).',
  ],
])('[OD5] the advice for a cache too full with %s is not what is done already', (_, copies, advice) => {
  expect(adviceOfOverfull(new CopiesRules([{ id: ant, copies }]))).toContain(advice);
});
