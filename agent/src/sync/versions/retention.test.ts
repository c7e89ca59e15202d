import { expect, test, vi } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';
import { OldVersions } from './old-versions.ts';
import { Retention } from './retention.ts';

test('[MT5] no version goes for its age while the clock of this member and that of another one differ', async () => {
  const member = new LoneMember();
  const { context } = member;
  const trims = vi.spyOn(context.folder, 'trimHistory');
  const ages = (): readonly unknown[] => trims.mock.calls.map(([{ ageMsMax }]) => ageMsMax);
  const retention = new Retention(context, { size: { bytes: 1_000 }, filesMax: 10, ageMsMax: 5_000 }, () => false);
  context.problems.set('clock-skew', { member: 'bee' }, 'The clock of bee differs.');
  retention.start();
  await member.passes(10_000);
  expect(ages()).toEqual([Number.POSITIVE_INFINITY]);
  context.problems.clear('clock-skew', { member: 'bee' });
  await member.passes(60_000);
  expect(ages()).toEqual([Number.POSITIVE_INFINITY, 5_000]);
  retention.stop();
});

test('[MT5] a version that is being put back does not go for lack of room', async () => {
  const member = new LoneMember();
  const { context } = member;
  const { content } = member.operation('file', { kind: 'put', text: 'an old version' });
  if (content === undefined) throw new Error('a file has a content');
  const trims = vi.spyOn(context.folder, 'trimHistory');
  const oldVersions = new OldVersions(context, {} as ContentFetcher);
  const limits = { size: { bytes: 0 }, filesMax: 0, ageMsMax: 5_000 };
  const retention = new Retention(context, limits, (each) => oldVersions.isHeld(each));
  const { promise: isOver, end } = openEnd();
  const holding = oldVersions.hold([content], () => isOver);
  retention.start();
  await member.passes(10_000);
  const isKept = (): boolean | undefined => trims.mock.lastCall?.[1](content);
  expect(isKept()).toBe(true);
  end();
  await holding;
  expect(isKept()).toBe(false);
  retention.stop();
});

/** A promise that is resolved from outside. */
function openEnd() {
  let end = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { promise, end };
}
