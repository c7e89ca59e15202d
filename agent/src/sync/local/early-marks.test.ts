import type { OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { LocalChanges } from './local-changes.ts';

const text = 'put back';
const bee = 'bee.1' as OriginId;

/** A member that has not scanned its folder yet. The folder has `file`, which an operation of bee that arrived has too. */
async function withFile({ isEmpty }: { readonly isEmpty: boolean }) {
  const member = new LoneMember();
  const { context, journal } = member;
  if (!isEmpty) member.received(member.operation('docs', { kind: 'mkdir' }, { origin: bee }));
  const changes = new LocalChanges(context, member.operationWriter);
  member.volume.disk.write('file', contentOfText(text));
  const put = member.operation('file', { kind: 'put', text }, { origin: bee });
  member.received(put);
  context.facts.doubted.publish('file');
  await member.passes(1_000);
  const starts = async (): Promise<void> => {
    const started = changes.start();
    await member.passes(5_000);
    await started;
  };
  return { member, journal, changes, put, starts };
}

// The simulator's seed 23673: the member was set back after its user had deleted the file.
test('[LC34] the delete of a file that was put back arrives after the version that it removed', async () => {
  const { member, journal, changes, put, starts } = await withFile({ isEmpty: false });
  expect([journal.disk.at('file'), changes.isOpen('file'), changes.unsettled]).toEqual([undefined, true, 1]);
  const origin = `${member.id}.lost` as OriginId;
  member.received(member.operation('file', { kind: 'delete' }, { origin, parents: [put] }));
  await starts();
  const content = contentOfText(text).id;
  expect(journal.heads.at('file')[0]).toMatchObject({ kind: 'put', origin: journal.origin, content });
});

test('[LC34] a wait for changes does not end before the folder is scanned', async () => {
  const { member, changes, starts } = await withFile({ isEmpty: false });
  let isOver = false;
  const settled = changes.settleAll('', new Promise(() => undefined)).then((left) => {
    isOver = true;
    return left;
  });
  await member.passes(60_000);
  expect(isOver).toBe(false);
  await starts();
  expect(await settled).toEqual({ unsettled: [], unread: [] });
});

test('[SY5] an empty journal adopts equal files while the operations of the others arrive', async () => {
  const { journal, put } = await withFile({ isEmpty: true });
  expect(journal.disk.at('file')?.dot).toMatchObject({ origin: put.origin, seq: put.seq });
});
