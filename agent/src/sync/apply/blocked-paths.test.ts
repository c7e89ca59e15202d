import type { OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { WakeTimer } from '../scheduling/wake-timer.ts';
import { BlockedPaths } from './blocked-paths.ts';

// Simulator, seed 78456: a file of 16 bytes was missing for three minutes after a disk had been full for half a second.
test('[MT43] a file waits for room as long as at first, however often it could not be written before', () => {
  const member = new LoneMember();
  const { context } = member;
  const timer = new WakeTimer(context.clock, () => undefined);
  const blocked = new BlockedPaths(context, timer, () => false);
  const film = member.operation('film', { kind: 'put', text: 'elsewhere' }, { origin: 'bee' as OriginId });
  const restMs = (): number => blocked.restMs('film', film, context.clock.monotonicMs());
  for (let attempt = 0; attempt < 5; attempt++) blocked.block('film', film, 'no room for its name', 'disk-full');
  blocked.blockWithoutRoom('film', film, 'no room for its content');
  expect(restMs()).toBeLessThanOrEqual(60_000);
  blocked.blockWithoutRoom('film', film, 'no room for its content');
  expect(restMs()).toBeGreaterThanOrEqual(60_000);
  timer.stop();
});
