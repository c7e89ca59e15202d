import type { Operation, OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { WriteBack } from '../durability/write-back.ts';
import { Confirmer } from '../integrity/confirmer.ts';
import { LocalChanges } from '../local/local-changes.ts';
import { ApplyLoop } from './apply-loop.ts';
import { RenameGate } from './rename-gate.ts';

const bee = 'bee' as OriginId;

test('[MT11] a directory is renamed with its own files, also if a version of one was deleted while that was planned', async () => {
  let meanwhile = (): void => undefined;
  const member = new LoneMember((folder) => {
    const inHistory = folder.inHistory.bind(folder);
    folder.inHistory = async (contents) => {
      const found = await inHistory(contents);
      meanwhile();
      return found;
    };
    return folder;
  });
  const { context, journal, volume } = member;
  volume.disk.mkdir('a');
  volume.disk.write('a/file', contentOfText('mine'));
  const changes = new LocalChanges(context, member.operationWriter);
  const started = changes.start();
  await member.passes(10_000);
  await started;
  // The file is durable, and cannot change without a trace any more.
  new WriteBack(context).poke();
  new Confirmer(context, () => false).poke();
  await member.passes(120_000);
  const mine = journal.heads.at('a/file');

  // Another member renames the directory, to a name that is planned later. A third one has a version of the file that is deleted only after that.
  member.keeps('theirs');
  const theirs = member.operation('a/file', { kind: 'put', text: 'theirs' }, { origin: 'cat' as OriginId });
  const made = member.operation('b', { kind: 'mkdir' }, { origin: bee });
  const group = made.seq;
  const moved = member.operation('b/file', { kind: 'put', text: 'mine' }, { origin: bee });
  const file: Operation = { ...moved, mode: mine[0]?.mode ?? 0, mtimeUs: mine[0]?.mtimeUs ?? 0, from: 'a/file' };
  const left = member.operation('a/file', { kind: 'delete' }, { origin: bee, parents: mine });
  const gone = member.operation('a', { kind: 'delete' }, { origin: bee, parents: journal.heads.at('a') });
  const renamed: readonly Operation[] = [{ ...made, from: 'a', span: 4 }, file, left, gone];
  member.received(theirs, ...renamed.map((operation) => ({ ...operation, group })));
  expect(journal.heads.at('a/file')[0]?.content).toBe(contentOfText('theirs').id);

  const applyLoop = new ApplyLoop(context, member.transfers, new RenameGate(journal, context.clock, () => []));
  meanwhile = () => {
    meanwhile = () => undefined;
    member.received(member.operation('a/file', { kind: 'delete' }, { origin: bee, parents: [theirs] }));
    applyLoop.poke();
  };
  applyLoop.poke();
  await member.passes(60_000);

  expect(volume.disk.at('b/file')?.content?.id).toBe(contentOfText('mine').id);
  expect(volume.disk.at('a')).toBeUndefined();
  expect(journal.heads.at('b/file')).toMatchObject([{ origin: bee }]);
  expect(journal.totals.counts().pending).toBe(0);
  expect(member.errors).toEqual([]);
});
