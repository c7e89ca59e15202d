import type { OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { LocalChanges } from '../local/local-changes.ts';
import type { Folder } from '../ports/folder.ts';
import { ApplyLoop } from './apply-loop.ts';
import { RenameGate } from './rename-gate.ts';

/** A moment as other programs could see it. */
interface Moment {
  readonly isThere: boolean;
  readonly isRemote: boolean;
  readonly raised: number;
}

test('[OD3] [OD20] a file whose next version is elsewhere counts as remote, and its counter is raised, before it is removed', async () => {
  const moments: Moment[] = [];
  const see = (): void => {
    const { remoteNames } = member.context;
    const isRemote = journal.disk.at('d/a')?.remote === true || remoteNames.leavingAt('d/a') !== undefined;
    moments.push({ isThere: volume.disk.at('d/a') !== undefined, isRemote, raised: member.raised.length });
  };
  const watched = (folder: Folder): Folder => {
    const apply = folder.apply.bind(folder);
    return Object.assign(folder, {
      async apply(requests: Parameters<Folder['apply']>[0]) {
        see();
        const results = await apply(requests);
        see();
        return results;
      },
    });
  };
  const member: LoneMember = new LoneMember(watched, { onDemand: true });
  const { context, journal, volume } = member;
  volume.disk.mkdir('d');
  volume.disk.write('d/a', contentOfText('old'));
  const changes = new LocalChanges(context, member.operationWriter);
  const started = changes.start();
  await member.passes(10_000);
  await started;
  expect(member.raised).toEqual([]);
  const { path, dot, content, fingerprint } = journal.disk.at('d/a') ?? expect.unreachable('the file has a row');
  // Some time later its bytes are certain and durable.
  journal.disk.record([{ path, entry: { dot, content, fingerprint } }]);
  const parents = journal.heads.at('d/a');
  member.received(member.operation('d/a', { kind: 'put', text: 'new' }, { origin: 'bee' as OriginId, parents }));
  new ApplyLoop(context, member.transfers, new RenameGate(journal, context.clock, () => [])).poke();
  await member.passes(60_000);
  expect(moments).toEqual([
    { isThere: true, isRemote: true, raised: 1 },
    { isThere: false, isRemote: true, raised: 1 },
  ]);
  expect(member.raised).toEqual(['d', 'd']);
  expect(journal.disk.at('d/a')).toMatchObject({ remote: true });
  expect(context.remoteNames.leaving('d')).toEqual([]);
  expect(member.errors).toEqual([]);
});
