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
  const fetcher = { stagedBytes: () => stagedBytes, partialBytes: () => 0, hasNoSender: () => false };
  const arrivals = new Arrivals(context, fetcher, () => false);
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
  const fetcher = { stagedBytes: () => stagedBytes, partialBytes: () => 0, hasNoSender: () => hasNoSender };
  const arrivals = new Arrivals(context, fetcher, () => false);
  for (; stagedBytes < 10; stagedBytes++) {
    context.facts.second.publish();
    await member.passes(1_000);
  }
  expect(arrivals.report().bytesPerSecond).toBeGreaterThan(0);
  hasNoSender = true;
  expect(arrivals.report()).toMatchObject({ missingBytes: 13, bytesPerSecond: 0 });
});

// A line of 20 kB/s was said to have stalled, and between two blocks small edits made it more than 30 days.
test('[SY41] bytes of a block that is not complete count for the rate, and not as there', async () => {
  const member = new LoneMember();
  const { context } = member;
  const origin = 'bbbb.one' as OriginId;
  member.received(member.operation('film', { kind: 'put', text: 'a'.repeat(20_000) }, { origin }));
  const [blockBytes, blockSeconds, slowBytesPerSecond] = [1_000, 50, 20];
  let seconds = 0;
  const stagedBytes = () => Math.floor(seconds / blockSeconds) * blockBytes;
  const partialBytes = () => (seconds % blockSeconds) * slowBytesPerSecond;
  const arrivals = new Arrivals(context, { stagedBytes, partialBytes, hasNoSender: () => false }, () => false);
  for (; seconds < 2 * blockSeconds; seconds++) {
    context.facts.second.publish();
    await member.passes(1_000);
    if (seconds <= 5) continue;
    const { bytesPerSecond = 0, missingBytes } = arrivals.report();
    expect(bytesPerSecond).toBeGreaterThan(slowBytesPerSecond / 2);
    expect(bytesPerSecond).toBeLessThan(slowBytesPerSecond * 2);
    expect(missingBytes).toBe(20_000 - stagedBytes());
  }
});
