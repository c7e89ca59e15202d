import type { ContentId, OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import type { Folder } from '../ports/folder.ts';
import { ApplyLoop } from './apply-loop.ts';
import { RenameGate } from './rename-gate.ts';

const unreadable = contentOfText('unreadable').id;

/** A folder whose disk fails at the name of one version in history. */
function failing(folder: Folder): Folder {
  return new Proxy(folder, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name === 'inHistory') {
        return async (contents: readonly ContentId[]) => {
          if (contents.includes(unreadable)) throw new Error('EIO');
          return await target.inHistory(contents);
        };
      }
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test('[LC13] one version in history at which the disk fails does not keep other files from their paths', async () => {
  const member = new LoneMember(failing);
  const { context, journal, volume } = member;
  const origin = 'bee' as OriginId;
  member.keeps('readable');
  member.received(member.operation('a', { kind: 'put', text: 'unreadable' }, { origin }));
  member.received(member.operation('b', { kind: 'put', text: 'readable' }, { origin }));
  const applyLoop = new ApplyLoop(context, member.transfers, new RenameGate(journal, context.clock, () => []));
  applyLoop.poke();
  await member.passes(5_000);
  expect(volume.disk.at('b')?.content?.id).toBe(contentOfText('readable').id);
  expect(journal.totals.counts().pending).toBe(1);
  expect(applyLoop.reason('a')).toContain('No reachable member has the content of a.');
  expect(member.errors).toEqual([]);
  applyLoop.stop();
});
