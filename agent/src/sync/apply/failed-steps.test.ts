import type { OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import type { ActionRequest, Folder } from '../ports/folder.ts';
import { ApplyLoop } from './apply-loop.ts';
import { noteBatch } from './interrupted-batch.ts';
import { RenameGate } from './rename-gate.ts';

const bee = 'bee' as OriginId;

/** A folder whose disk changes names, but cannot sync them, while `fails`; nor can history be looked up. */
function unsynced(fails: () => boolean): (folder: Folder) => Folder {
  const problem = { result: 'problem', code: 'path-io', detail: 'The disk answered EIO.' } as const;
  return (folder) =>
    new Proxy(folder, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (name === 'apply') {
          return async (requests: readonly ActionRequest[]) => {
            const results = await target.apply(requests);
            return fails() ? requests.map(() => problem) : results;
          };
        }
        if (name === 'inHistory' && fails()) return () => Promise.reject(new Error('EIO'));
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
}

test('[LC13] a file that a failing disk removed is not taken for the one that another member puts back', async () => {
  let fails = false;
  const member = new LoneMember(unsynced(() => fails));
  const { context, journal, volume } = member;
  const applyLoop = new ApplyLoop(context, member.transfers, new RenameGate(journal, context.clock, () => []));
  const put = member.operation('file', { kind: 'put', text: 'text' }, { origin: bee });
  member.keeps('text');
  member.received(put);
  applyLoop.poke();
  await member.passes(5_000);
  expect(volume.disk.at('file')?.content?.id).toBe(contentOfText('text').id);
  fails = true;
  const gone = member.operation('file', { kind: 'delete' }, { origin: bee, parents: [put] });
  member.received(gone);
  applyLoop.poke();
  await member.passes(5_000);
  expect(volume.disk.at('file')).toBeUndefined();
  const back = member.operation('file', { kind: 'put', text: 'text' }, { origin: bee, parents: [gone] });
  member.received(back);
  applyLoop.poke();
  await member.passes(5_000);
  expect(journal.totals.counts().pending, 'while the disk fails').toBe(1);
  fails = false;
  await member.passes(20_000);
  expect(volume.disk.at('file')?.content?.id).toBe(contentOfText('text').id);
  expect(journal.disk.at('file')).toMatchObject({ dot: { origin: bee, seq: back.seq } });
  expect(member.errors).toEqual([]);
});

test('[LC13] an agent starts while the disk fails at history, and examines what its killed batch did later', async () => {
  let fails = false;
  const member = new LoneMember(unsynced(() => fails));
  const { context, journal, volume } = member;
  const starts = () => new ApplyLoop(context, member.transfers, new RenameGate(journal, context.clock, () => []));
  const killed = starts();
  const put = member.operation('file', { kind: 'put', text: 'text' }, { origin: bee });
  member.keeps('text');
  member.received(put);
  killed.poke();
  await member.passes(5_000);
  killed.stop();
  const gone = member.operation('file', { kind: 'delete' }, { origin: bee, parents: [put] });
  member.received(gone);
  noteBatch(journal, [{ path: 'file', request: { action: { do: 'rmdir', path: 'file' } }, record: () => [] }]);
  volume.disk.unlink('file');
  fails = true;
  const applyLoop = starts();
  const started = applyLoop.recordInterrupted();
  await member.passes(1_000);
  await started;
  const back = member.operation('file', { kind: 'put', text: 'text' }, { origin: bee, parents: [gone] });
  member.received(back);
  applyLoop.poke();
  await member.passes(5_000);
  expect(journal.totals.counts().pending, 'while the disk fails').toBe(1);
  fails = false;
  await member.passes(20_000);
  expect(volume.disk.at('file')?.content?.id).toBe(contentOfText('text').id);
  expect(journal.disk.at('file')).toMatchObject({ dot: { origin: bee, seq: back.seq } });
  expect(member.errors).toEqual([]);
});
