import { freeBytesMin, type OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { ApplyLoop } from './apply-loop.ts';
import { RenameGate } from './rename-gate.ts';

test('[MT43] nothing is fetched while the disk is full, and at once when it has room again', async () => {
  const member = new LoneMember();
  const { context, journal, transfers } = member;
  const loop = new ApplyLoop(context, transfers, new RenameGate(journal, context.clock, () => []));
  const searched: (readonly string[])[] = [];
  context.facts.fetched.on(({ paths }) => searched.push(paths));
  context.problems.set('disk-full', {}, 'The disk is full.');
  member.received(member.operation('film', { kind: 'put', text: 'elsewhere' }, { origin: 'bee' as OriginId }));
  loop.poke();
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
