import { expect, test, vi } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { ChangePoll } from './change-poll.ts';
import { LocalChanges } from './local-changes.ts';

test('[WT40] a folder that one turn can poll is polled whole, each file once, and no mappings are listed for it', async () => {
  const member = new LoneMember();
  const { context } = member;
  const changes = new LocalChanges(context, member.operationWriter, 600_000);
  const poll = new ChangePoll(context, () => false);
  const started = changes.start();
  await member.passes(1_000);
  await started;
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
