import type { OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { Arrivals } from './arrivals.ts';

test('[SY41] a file that has no room on the disk has no rate, however often a part of it arrives', async () => {
  const member = new LoneMember();
  const { context } = member;
  const film = member.operation(
    'film',
    { kind: 'put', text: 'a film of several bytes' },
    { origin: 'bbbb.one' as OriginId },
  );
  member.received(film);
  let stagedBytes = 0;
  const arrivals = new Arrivals(context, { stagedBytes: () => stagedBytes, hasNoSender: () => false }, () => false);
  for (; stagedBytes < 10; stagedBytes++) {
    context.facts.second.publish();
    await member.passes(1_000);
  }
  expect(arrivals.report().bytesPerSecond).toBeGreaterThan(0);
  context.problems.set('disk-full', { path: 'film' }, 'There is no room for film.');
  expect(arrivals.report()).toMatchObject({ missingBytes: 13, bytesPerSecond: 0 });
});

test('[SY41] bytes that miss have no rate once the only member that sent some has no session', async () => {
  const member = new LoneMember();
  const { context } = member;
  const origin = 'bbbb.one' as OriginId;
  member.received(member.operation('film', { kind: 'put', text: 'a film of several bytes' }, { origin }));
  let stagedBytes = 0;
  let hasNoSender = false;
  const fetcher = { stagedBytes: () => stagedBytes, hasNoSender: () => hasNoSender };
  const arrivals = new Arrivals(context, fetcher, () => false);
  for (; stagedBytes < 10; stagedBytes++) {
    context.facts.second.publish();
    await member.passes(1_000);
  }
  expect(arrivals.report().bytesPerSecond).toBeGreaterThan(0);
  hasNoSender = true;
  expect(arrivals.report()).toMatchObject({ missingBytes: 13, bytesPerSecond: 0 });
});
