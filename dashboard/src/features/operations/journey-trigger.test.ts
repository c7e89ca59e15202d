import type { Journey, MemberReport } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { journeyTrigger } from './journey-trigger.ts';

const member = (id: string, more: Partial<MemberReport> = {}) =>
  ({ id, self: false, state: 'active', behind: 0, ...more }) as MemberReport;
const heldBy = (...ids: readonly string[]) =>
  ({ stops: ['ant', 'bee'].map((id) => ({ member: id, applied: ids.includes(id) })) }) as unknown as Journey;
const operation = { origin: 'o', seq: 7 };
const trigger = (bee: Partial<MemberReport>, journey?: Journey) =>
  journeyTrigger(
    { members: [member('ant', { self: true }), member('bee', bee)], version: { o: 9 } },
    operation,
    journey,
  );

test('[DB-J5] the journey is requested again when a member that lacks the operation proceeds, or any changes its state', () => {
  const before = trigger({ version: { o: 6 }, behind: 3 }, heldBy('ant'));
  expect(trigger({ version: { o: 7 }, behind: 3 }, heldBy('ant'))).not.toBe(before);
  expect(trigger({ version: { o: 6 }, behind: 2 }, heldBy('ant'))).not.toBe(before);
  expect(trigger({ version: { o: 6 }, behind: 3, state: 'down' }, heldBy('ant'))).not.toBe(before);
});

test('[DB-J5] changes that do not concern the operation cause no request', () => {
  const before = trigger({ version: { o: 7 }, behind: 1 }, heldBy('ant', 'bee'));
  expect(trigger({ version: { o: 20 }, behind: 400 }, heldBy('ant', 'bee'))).toBe(before);
  expect(trigger({ version: { o: 7 }, behind: 1, rttMs: 3 }, heldBy('ant', 'bee'))).toBe(before);
});
