import { expect, test } from 'vitest';
import { informedMembers } from './informed-members.ts';

test('[MB14] members that have confirmed a removal are named, and a connected one that is slow is not called unreachable', () => {
  expect(informedMembers(['ant', 'bee'])).toBe('Members that know it: ant, bee.');
  expect(informedMembers([])).not.toContain('No other member is reachable');
  expect(informedMembers([])).toBe('No other member has confirmed it yet: each does when it is reached.');
  expect(informedMembers([], 'it is stopping')).toBe('No other member has confirmed it yet: it is stopping.');
});
