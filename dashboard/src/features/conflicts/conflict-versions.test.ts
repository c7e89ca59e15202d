import { expect, test } from 'vitest';
import { versionNames } from './conflict-versions.tsx';

test('two versions are named by their writers, and told apart if one member wrote both', () => {
  expect(versionNames({ winner: 'bee', loser: 'ant' })).toEqual({ original: 'bee’s version', copy: 'ant’s version' });
  expect(versionNames({ winner: null, loser: 'ant' })).toEqual({ original: 'Nothing', copy: 'ant’s version' });
  // While a settlement is undone, one member has written both for a moment.
  expect(versionNames({ winner: 'ant', loser: 'ant' })).toEqual({
    original: 'ant’s current version',
    copy: 'ant’s copy',
  });
});
