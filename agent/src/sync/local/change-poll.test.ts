import { expect, test, vi } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { ChangePoll } from './change-poll.ts';
import { LocalChanges } from './local-changes.ts';

/** A member whose folder was scanned, and its poll, which has not started. */
async function open() {
  const member = new LoneMember();
  const { context } = member;
  const changes = new LocalChanges(context, member.operationWriter, { rescanIntervalMs: 600_000 });
  const poll = new ChangePoll(context, () => false);
  const started = changes.start();
  await member.passes(1_000);
  await started;
  return { member, context, poll };
}

test('[WT40] a folder that one turn can poll is polled whole, each file once, and no mappings are listed for it', async () => {
  const { member, context, poll } = await open();
  for (const name of ['a', 'b']) member.volume.disk.write(name, contentOfText(name));
  await member.passes(1_000);
  const polls = vi.spyOn(context.folder, 'poll');
  const listings = vi.spyOn(context.folder, 'mapped');
  poll.start();
  await member.passes(5_000);
  expect(polls.mock.calls.map(([{ paths }]) => paths)).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ]);
  expect(listings).not.toHaveBeenCalled();
  poll.stop();
});

test('[WT40] such a folder is polled every 2 s, and every 5 s once nothing changed there for a minute', async () => {
  const { member, context, poll } = await open();
  const polls = vi.spyOn(context.folder, 'poll');
  const pollsIn = async (ms: number): Promise<number> => {
    polls.mockClear();
    await member.passes(ms);
    return polls.mock.calls.length;
  };
  member.volume.disk.write('a', contentOfText('a'));
  await member.passes(1_000);
  poll.start();
  expect(await pollsIn(30_000)).toBeGreaterThan(12);
  await member.passes(60_000);
  expect(await pollsIn(30_000)).toBeLessThan(7);
  member.volume.disk.write('a', contentOfText('again'));
  await member.passes(5_000);
  expect(await pollsIn(30_000)).toBeGreaterThan(12);
  poll.stop();
});
