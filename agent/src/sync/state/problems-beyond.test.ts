import { problemsMax } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';

test('[LC10] problems beyond the thousand that are kept are counted once, however often they are reported', () => {
  const { problems } = new LoneMember().context;
  const report = (): void => {
    for (let number = 0; number < problemsMax + 5; number++) {
      problems.set('path-not-utf8', { path: `${number}` }, 'It is left alone.');
    }
  };
  report();
  report();
  expect(problems.list()).toHaveLength(problemsMax);
  expect(problems.count).toBe(problemsMax + 5);
  problems.clear('path-not-utf8', { path: `${problemsMax}` });
  expect(problems.count).toBe(problemsMax + 4);
  // There is room for one of them now.
  problems.clear('path-not-utf8', { path: '0' });
  problems.set('path-not-utf8', { path: `${problemsMax + 1}` }, 'It is left alone.');
  expect([problems.list().length, problems.count]).toEqual([problemsMax, problemsMax + 3]);
});
