import type { OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { LocalChanges } from '../local/local-changes.ts';
import { ApplyLoop } from './apply-loop.ts';
import { RenameGate } from './rename-gate.ts';

test.each(['before a scan finds it as new', 'before the member is restarted'])(
  '[MT9] a directory that could not be replaced by a file, and is removed %s, makes room for the file',
  async (moment) => {
    const member = new LoneMember();
    const { context, journal, volume } = member;
    context.ignored.take('*.tmp');
    volume.disk.mkdir('name');
    volume.disk.write('name/mine.tmp', contentOfText('ignored'));
    const changes = new LocalChanges(context, member.operationWriter);
    const started = changes.start();
    await member.passes(10_000);
    await started;
    member.keeps('text');
    const parents = journal.heads.at('name');
    member.received(member.operation('name', { kind: 'put', text: 'text' }, { origin: 'bee' as OriginId, parents }));
    const isSeen = moment === 'before a scan finds it as new';
    context.facts.unscanned.on(() => {
      if (volume.disk.at('name') === undefined) return;
      volume.disk.unlink('name/mine.tmp');
      volume.disk.rmdir('name');
      if (!isSeen) changes.stop();
    });
    const applyLoop = new ApplyLoop(context, member.transfers, new RenameGate(journal, context.clock, () => []));
    applyLoop.poke();
    await member.passes(60_000);
    if (!isSeen) {
      const again = new LocalChanges(context, member.operationWriter);
      const ready = again.start();
      await member.passes(10_000);
      await ready;
    }
    applyLoop.unblock();
    await member.passes(60_000);
    expect(journal.totals.counts().pending).toBe(0);
    expect(volume.disk.at('name')).toMatchObject({ type: 'file' });
    expect(journal.heads.at('name').map(({ kind }) => kind)).toEqual(['put']);
    expect(member.errors).toEqual([]);
  },
);

test.each([
  { onDemand: false, entry: 'an ignored file' },
  { onDemand: true, entry: 'an ignored file' },
  { onDemand: false, entry: 'a pipe' },
  { onDemand: true, entry: 'a pipe' },
])(
  '[MT17] a file waits for its name while $entry keeps a directory there, and nothing is journaled (on demand: $onDemand)',
  async ({ onDemand, entry }) => {
    const member = new LoneMember(undefined, { onDemand });
    const { context, journal, volume } = member;
    context.ignored.take('*.tmp');
    volume.disk.mkdir('name');
    if (entry === 'a pipe') volume.disk.mkfifo('name/pipe');
    else volume.disk.write('name/mine.tmp', contentOfText('ignored'));
    const changes = new LocalChanges(context, member.operationWriter);
    const started = changes.start();
    await member.passes(10_000);
    await started;
    if (!onDemand) member.keeps('text');
    const parents = journal.heads.at('name');
    member.received(member.operation('name', { kind: 'put', text: 'text' }, { origin: 'bee' as OriginId, parents }));
    new ApplyLoop(context, member.transfers, new RenameGate(journal, context.clock, () => [])).poke();
    await member.passes(60_000);
    member.wrote.length = 0;
    await member.passes(60_000);
    expect(member.wrote).toEqual([]);
    expect(context.problems.ofPath('name')).toMatchObject({ code: 'path-in-the-way' });
    expect(journal.heads.at('name').map(({ kind }) => kind)).toEqual(['put']);
    expect(journal.disk.at('name')).toMatchObject({ dot: { origin: parents[0]?.origin, seq: parents[0]?.seq } });
    expect(member.errors).toEqual([]);
  },
);
