import { type MemberRecord, memberPath, type Operation, originId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { canonicalText } from './chain.ts';

const id = 'a'.repeat(52) as MemberRecord['id'];
const origin = originId(id, 'aaaaaaaa');

const text = (more: Partial<MemberRecord>): unknown[] => {
  const member: MemberRecord = { id, name: 'ant', addresses: ['ant:4700'], membership: 'joined', ...more };
  const operation = { origin, seq: 1, hlc: 1, kind: 'member', path: memberPath(id), version: { vector: {} }, member };
  return JSON.parse(canonicalText(operation as Operation)).at(-1);
};

test('[MB15] the mark of a member is part of its text only where it is set, so that earlier records keep theirs', () => {
  expect(text({})).toEqual([id, 'ant', ['ant:4700'], 'joined']);
  expect(text({ mayBeAway: true })).toEqual([id, 'ant', ['ant:4700'], 'joined', true]);
  expect(text({ onDemand: true })).toEqual([id, 'ant', ['ant:4700'], 'joined', null, true]);
  expect(text({ mayBeAway: true, onDemand: true })).toEqual([id, 'ant', ['ant:4700'], 'joined', true, true]);
  expect(text({ onDemand: true, room: 9 })).toEqual([id, 'ant', ['ant:4700'], 'joined', null, true, 9]);
  const copies = [{ pattern: '*.iso', copies: 2, at: 7 }];
  expect(text({ copies }).slice(4)).toEqual([null, null, null, [['*.iso', 2, 7]]]);
});

test('[FK1] the marks of other operations are part of the text only where an operation has them', () => {
  const operation = { origin, seq: 2, hlc: 1, kind: 'delete', path: 'p', version: { vector: {} } } as const;
  const { length } = JSON.parse(canonicalText(operation));
  expect(JSON.parse(canonicalText({ ...operation, marks: Uint8Array.of(0, 255, 16) })).slice(length)).toEqual([
    '00ff10',
  ]);
});
