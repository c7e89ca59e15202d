import { freeBytesMin, type OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { WakeTimer } from '../scheduling/wake-timer.ts';
import { ApplyLoop } from './apply-loop.ts';
import { BlockedPaths } from './blocked-paths.ts';
import { RenameGate } from './rename-gate.ts';

/** A member whose disk is known to be full, and that is to apply a file that it does not have. */
function onFullDisk() {
  const member = new LoneMember();
  const { context, journal, transfers } = member;
  const loop = new ApplyLoop(context, transfers, new RenameGate(journal, context.clock, () => []));
  const searched: (readonly string[])[] = [];
  context.facts.fetched.on(({ paths }) => searched.push(paths));
  context.problems.set('disk-full', {}, 'The disk is full.');
  member.received(member.operation('film', { kind: 'put', text: 'elsewhere' }, { origin: 'bee' as OriginId }));
  loop.poke();
  return { member, context, loop, searched };
}

test('[MT43] nothing is fetched while the disk is full, and at once when it has room again', async () => {
  const { member, context, loop, searched } = onFullDisk();
  await member.passes(120_000);
  context.facts.roomMeasured.publish(freeBytesMin);
  expect(searched).toEqual([]);
  expect(loop.reason('film')).toContain('There is no room for film.');
  expect(context.problems.ofPath('film')?.code).toBe('disk-full');
  context.problems.clear('disk-full');
  context.facts.roomMeasured.publish(2 * freeBytesMin);
  await member.passes(1_000);
  expect(searched).not.toEqual([]);
  loop.stop();
});

test('[MT43] what the full disk kept from being fetched is fetched at the next measurement that finds room', async () => {
  const { member, context, loop, searched } = onFullDisk();
  await member.passes(1_000);
  expect(loop.reason('film')).toContain('There is no room for film.');
  context.problems.clear('disk-full');
  context.facts.roomMeasured.publish(2 * freeBytesMin);
  await member.passes(1_000);
  expect(searched).not.toEqual([]);
  loop.stop();
});

// Simulator, seeds 58972, 68694 and 78456: a small file was missing for three minutes after a disk had been full for half a second.
test('[MT43] the first wait for room is short, also after failures that were tried again soon', () => {
  const member = new LoneMember();
  const { context } = member;
  const timer = new WakeTimer(context.clock, () => undefined);
  const blocked = new BlockedPaths(context, timer, member.transfers);
  const film = member.operation('film', { kind: 'put', text: 'elsewhere' }, { origin: 'bee' as OriginId });
  const restMs = (): number => blocked.restMs('film', film, context.clock.monotonicMs());
  for (let attempt = 0; attempt < 10; attempt++) blocked.block('film', film, 'its entry on this disk has changed');
  blocked.blockWithoutRoom('film', film, 'no room', false);
  expect(restMs()).toBeLessThanOrEqual(60_000);
  blocked.blockWithoutRoom('film', film, 'no room', false);
  expect(restMs()).toBeGreaterThanOrEqual(60_000);
  timer.stop();
});
