import { expect, test } from 'vitest';
import { virtualContent } from '../sim/content.ts';
import { LoneMember } from '../sim/lone-member.ts';
import { LocalChanges } from './local-changes.ts';

const size = 3_000_000;
const never = new Promise<void>(() => undefined);

async function withLargeFile() {
  const member = new LoneMember();
  const { disk } = member.volume;
  const before = virtualContent('before', size);
  disk.write('old-name', before);
  const changes = new LocalChanges(member.context, member.ownLog);
  const started = changes.start();
  await member.passes(10_000);
  await started;
  expect(member.journal.heads('old-name')).toMatchObject([{ content: before.id }]);
  const looked = async (): Promise<void> => {
    const settled = changes.settleAll('', never);
    await member.passes(10_000);
    await settled;
  };
  return { member, disk, before, looked };
}

test('[LC7] a large file that is renamed is journaled as renamed, and read once afterwards', async () => {
  const { member, disk, before, looked } = await withLargeFile();
  disk.rename('old-name', 'new-name');
  await member.passes(1_000);
  expect(member.journal.heads('new-name')).toMatchObject([{ content: before.id, from: 'old-name' }]);
  expect(member.journal.disk('new-name')).toMatchObject({ racy: true });
  await looked();
  expect(member.journal.disk('new-name')?.racy ?? false).toBe(false);
  expect(member.journal.heads('new-name')).toMatchObject([{ content: before.id, from: 'old-name' }]);
});

test('[LC7] a large file that was changed, given its old time and renamed before anybody looked, is not taken for the old one', async () => {
  const { member, disk, looked } = await withLargeFile();
  const { mtimeMs = 0 } = member.journal.disk('old-name')?.fingerprint ?? {};
  const after = virtualContent('after', size);
  disk.write('old-name', after);
  disk.utimes('old-name', mtimeMs);
  disk.rename('old-name', 'new-name');
  await looked();
  expect(member.journal.heads('new-name')).toMatchObject([{ content: after.id }]);
  expect(member.journal.heads('old-name')).toMatchObject([{ kind: 'delete' }]);
});
