import { LockstepError } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { reportRoom, writeOnceRoom } from './disk-room.ts';

const full = new LockstepError('journal-full', 'There is no room for the journal.');

/** A member whose journal has room from the attempt `roomAt` on. */
function write(roomAt: number, giveUpAt = Number.POSITIVE_INFINITY) {
  const member = new LoneMember();
  let attempts = 0;
  const attempt = (): void => {
    attempts++;
    if (attempts < roomAt) throw full;
  };
  const written = writeOnceRoom(member.context.clock, attempt, () => attempts >= giveUpAt);
  return { member, written, attempts: () => attempts };
}

test('[MT10] a write that a start needs is tried again each second until the disk has room', async () => {
  const { member, written, attempts } = write(4);
  await member.passes(2_500);
  expect(attempts()).toBe(3);
  await member.passes(1_000);
  expect(await written).toBe(true);
  expect(attempts()).toBe(4);
});

test('[MT10] it ends when the member leaves, and with an error that room does not mend', async () => {
  const { member, written } = write(9, 2);
  await member.passes(5_000);
  expect(await written).toBe(false);
  const { clock } = new LoneMember().context;
  const broken = (): never => {
    throw new Error('broken');
  };
  await expect(writeOnceRoom(clock, broken, () => false)).rejects.toThrow('broken');
});

test('[MT10] the problem names the free space in the units of the page', () => {
  const { problems } = new LoneMember().context;
  reportRoom(problems, { freeBytes: 3_500_000, totalBytes: 1e12 });
  const [{ detail } = { detail: '' }] = problems.list();
  expect(detail).toMatch(/^The disk of the folder has 3\.5 MB left; below 16\.8 MB nothing more is written there\. /);
  reportRoom(problems, { freeBytes: 20_000_000, totalBytes: 1e12 });
  expect(problems.list()).toEqual([]);
});
