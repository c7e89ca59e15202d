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

test('[LC10] a grave problem, and one that keeps an entry behind, are named behind a thousand entries that are left alone', () => {
  const { problems } = new LoneMember().context;
  for (let number = 0; number < problemsMax + 5; number++) {
    problems.set('path-special', { path: `pipes/${number}` }, 'It is left alone.');
  }
  problems.setOfApplying('path-permission', 'closed/x', 'It cannot be written.');
  problems.set('file-damaged', { path: 'photo' }, 'It is damaged.');
  expect(problems.worst()?.code).toBe('file-damaged');
  expect(problems.ofPath('closed/x')?.detail).toBe('It cannot be written.');
  expect([problems.list().length, problems.count]).toEqual([problemsMax, problemsMax + 7]);
  expect(problems.countsByCode()).toEqual(
    new Map([
      ['path-special', problemsMax + 5],
      ['path-permission', 1],
      ['file-damaged', 1],
    ]),
  );
});

test('[LC10] a problem gives way to a graver one only', () => {
  const { problems } = new LoneMember().context;
  for (let number = 0; number < problemsMax; number++)
    problems.set('path-io', { path: `${number}` }, 'The disk fails.');
  problems.set('path-permission', { path: 'closed' }, 'It cannot be read.');
  problems.set('path-io', { path: 'another' }, 'The disk fails.');
  expect(problems.has('path-permission', { path: 'closed' })).toBe(false);
  expect([problems.list().length, problems.count]).toEqual([problemsMax, problemsMax + 2]);
});

test('[MT16] problems that are only counted end with their directory, but not those of applying', () => {
  const { problems } = new LoneMember().context;
  problems.set('path-special', { path: 'kept' }, 'It is left alone.');
  for (let number = 0; number < problemsMax + 5; number++) {
    problems.set('path-special', { path: `away/pipes/${number}` }, 'It is left alone.');
  }
  for (let number = 0; number < problemsMax; number++) {
    problems.setOfApplying('path-io', `away/${number}`, 'The disk fails.');
  }
  problems.setOfApplying('path-io', 'away/last', 'The disk fails.');
  problems.clearBelow('away');
  // The first one has given way, and is counted.
  expect(problems.countsByCode()).toEqual(
    new Map([
      ['path-special', 1],
      ['path-io', problemsMax + 1],
    ]),
  );
});

test('[LC10] a problem that ends by its time is not counted if it is not kept: no event would end that', () => {
  const { problems } = new LoneMember().context;
  for (let number = 0; number < problemsMax - 1; number++) problems.set('path-io', { path: `${number}` }, 'It fails.');
  problems.set('path-permission', { path: 'lasts' }, 'It cannot be read.', 60_000);
  expect(problems.count).toBe(problemsMax);
  // It gives way.
  problems.set('path-io', { path: 'last' }, 'It fails.');
  problems.set('path-permission', { path: 'another' }, 'It cannot be read.', 60_000);
  expect(problems.countsByCode()).toEqual(new Map([['path-io', problemsMax]]));
});
