import type { Operation } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { conflictPath } from '../../core/conflict-name.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { findOriginal } from './find-original.ts';

const nameOfLength = (length: number, ending: string) => `d/${'n'.repeat(length - ending.length)}${ending}`;

test('the original of a copy with a shortened name is found by the stamp, however often it changed since', () => {
  const member = new LoneMember();
  const paths = ['-one.txt', '-two.txt'].map((ending) => nameOfLength(250, ending));
  member.received(member.operation('d', { kind: 'mkdir' }));
  const lost = paths.map((path) => member.operation(path, { kind: 'put', text: 'lost' }));
  member.received(...lost);
  for (let edit = 0; edit < 100; edit++) {
    const edits = paths.map((path) => member.operation(path, { kind: 'put', text: `edit ${edit}` }));
    member.received(...edits);
  }
  const copies = lost.map(({ path, hlc }: Operation) => conflictPath(path, hlc, 'bee'));
  expect(copies.map((copy) => findOriginal(member.journal, copy))).toEqual(paths);
  expect(findOriginal(member.journal, conflictPath('d/short.txt', 1024, 'bee'))).toBe('d/short.txt');
});
