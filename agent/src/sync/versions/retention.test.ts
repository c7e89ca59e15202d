import { expect, test, vi } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { Retention } from './retention.ts';

test('[MT5] no version goes for its age while the clock of this member and that of another one differ', async () => {
  const member = new LoneMember();
  const { context } = member;
  const trims = vi.spyOn(context.folder, 'trimHistory');
  const ages = (): readonly unknown[] => trims.mock.calls.map(([{ ageMsMax }]) => ageMsMax);
  const retention = new Retention(context, { size: { bytes: 1_000 }, filesMax: 10, ageMsMax: 5_000 });
  context.problems.set('clock-skew', { member: 'bee' }, 'The clock of bee differs.');
  retention.start();
  await member.passes(10_000);
  expect(ages()).toEqual([Number.POSITIVE_INFINITY]);
  context.problems.clear('clock-skew', { member: 'bee' });
  await member.passes(60_000);
  expect(ages()).toEqual([Number.POSITIVE_INFINITY, 5_000]);
  retention.stop();
});
