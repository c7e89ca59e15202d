import type { Operation, OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { WriteBack } from '../durability/write-back.ts';
import { Confirmer } from '../integrity/confirmer.ts';
import { LocalChanges } from '../local/local-changes.ts';
import { ApplyLoop } from './apply-loop.ts';
import { RenameGate } from './rename-gate.ts';

// The simulator's seed 143645: a machine that was set back had a row of a link that its folder no longer had.
test('the delete of an entry supersedes no operation that repeated it unseen', async () => {
  const member = new LoneMember();
  const { context, journal, volume } = member;
  volume.disk.mkdir('directory');
  volume.disk.write('file', contentOfText('text'));
  volume.disk.symlink('link', 'target');
  const changes = new LocalChanges(context, member.operationWriter);
  const started = changes.start();
  await member.passes(10_000);
  await started;
  // The file is durable, and cannot change without a trace any more.
  new WriteBack(context).poke();
  new Confirmer(context, () => false).poke();
  await member.passes(120_000);

  const applyLoop = new ApplyLoop(context, member.transfers, new RenameGate(journal, context.clock, () => []));
  changes.stop();
  const paths = ['directory', 'file', 'link'];
  for (const path of paths) {
    const [mine] = journal.heads.at(path) as [Operation];
    const copy = member.operation(path, { kind: 'mkdir' }, { origin: 'bee' as OriginId, parents: [mine] });
    member.received({ ...mine, origin: copy.origin, seq: copy.seq, hlc: copy.hlc, version: copy.version });
  }
  volume.disk.rmdir('directory');
  for (const path of ['file', 'link']) volume.disk.unlink(path);
  applyLoop.poke();
  await member.passes(1_000);
  const restarted = new LocalChanges(context, member.operationWriter);
  const scanned = restarted.start();
  await member.passes(10_000);
  await scanned;
  restarted.stop();

  for (const path of paths) expect(journal.heads.at(path)[0]).toMatchObject({ origin: 'bee' });
  expect(member.errors).toEqual([]);
});
