import type { Operation, OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { ApplyLoop } from '../apply/apply-loop.ts';
import { RenameGate } from '../apply/rename-gate.ts';
import { LocalChanges } from '../local/local-changes.ts';
import { Mounts } from './mounts.ts';

const bee = 'bee' as OriginId;

/** A member with another disk mounted at `disk`, which is part of its folder. */
async function memberWithDisk(): Promise<{ member: LoneMember; changes: LocalChanges; mounts: Mounts }> {
  const member = new LoneMember();
  const { context, volume } = member;
  volume.disk.mkdir('disk');
  volume.disk.mount('disk', volume.disk.newDevice());
  const changes = new LocalChanges(context, member.operationWriter);
  const mounts = new Mounts(context);
  await within(member, mounts.check());
  await within(member, changes.start());
  return { member, changes, mounts };
}

async function within(member: LoneMember, done: Promise<void>): Promise<void> {
  await member.passes(10_000);
  await done;
}

test('[WT20] a file written just before its disk is hidden is found if the disk is back before the next check', async () => {
  const { member, changes, mounts } = await memberWithDisk();
  const { journal, volume } = member;
  const over = volume.disk.newDevice();
  volume.disk.write('disk/file', contentOfText('text'));
  volume.disk.mount('disk', over);
  changes.mark('disk/file');
  await member.passes(10_000);
  expect(journal.heads.at('disk/file')).toEqual([]);
  volume.disk.unmount(over);
  await within(member, mounts.check());
  await member.passes(10_000);
  expect(journal.heads.at('disk/file')).toMatchObject([{ kind: 'put', content: contentOfText('text').id }]);
  expect(member.errors).toEqual([]);
});

test('[MT30] a mount point that others rename has the problem, and the new directory is made', async () => {
  const { member } = await memberWithDisk();
  const { context, journal, volume } = member;
  const made = member.operation('moved', { kind: 'mkdir' }, { origin: bee });
  const renamed: Operation = { ...made, from: 'disk', group: made.seq, span: 2 };
  const gone = member.operation('disk', { kind: 'delete' }, { origin: bee, parents: journal.heads.at('disk') });
  member.received(renamed, { ...gone, group: made.seq });
  const gate = new RenameGate(journal, context.clock, () => []);
  new ApplyLoop(context, member.transfers, gate).poke();
  await member.passes(10_000);
  expect(volume.disk.at('moved')?.type).toBe('directory');
  expect(volume.disk.isMountPoint('disk')).toBe(true);
  expect(context.problems.list()).toMatchObject([{ code: 'path-in-the-way', path: 'disk' }]);
  expect(member.errors).toEqual([]);
});
