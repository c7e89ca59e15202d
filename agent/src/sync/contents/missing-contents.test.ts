import type { MemberId, OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { fingerprintOf } from '../../sim/disk/inode.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { LocalChanges } from '../local/local-changes.ts';
import { lostAfterMs, MissingContents } from './missing-contents.ts';

const bee = 'bee' as OriginId;

/** A running member with `before` at `d/old`. Its problems say that the contents of bee's `d/old` and `d/new` are missing. */
async function memberWithMissing() {
  const member = new LoneMember();
  const { context, operationWriter, volume, journal } = member;
  volume.disk.mkdir('d');
  volume.disk.write('d/old', contentOfText('before'));
  const changes = new LocalChanges(context, operationWriter, { rescanIntervalMs: 1_000 });
  await Promise.all([changes.start(), member.passes(5_000)]);
  const old = member.operation(
    'd/old',
    { kind: 'put', text: 'gone' },
    { origin: bee, parents: journal.heads.at('d/old') },
  );
  const fresh = member.operation('d/new', { kind: 'put', text: 'gone too' }, { origin: bee });
  member.received(old, fresh);
  context.missing.report(old);
  context.missing.report(fresh);
  return { ...member, journal, volume, changes, passes: (ms: number) => member.passes(ms) };
}

test('[CT12] a file written at a path whose content is missing supersedes it, and can be deleted after that', async () => {
  const { volume, journal, changes, passes } = await memberWithMissing();
  for (const path of ['d/old', 'd/new']) {
    volume.disk.write(path, contentOfText('from a backup'));
    await passes(5_000);
    expect(journal.heads.at(path)).toMatchObject([
      { origin: journal.origin, content: contentOfText('from a backup').id },
    ]);
    volume.disk.unlink(path);
    await passes(5_000);
    expect(journal.heads.at(path)).toMatchObject([{ origin: journal.origin, kind: 'delete' }]);
  }
  changes.stop();
});

test('[CT12] [LC16] a write over a damaged file supersedes nothing until the file is deleted', async () => {
  const { volume, journal, changes, passes } = await memberWithMissing();
  const [missing] = journal.heads.at('d/old');
  if (missing === undefined) throw new Error('It is a head');
  const { origin, seq } = missing;
  const inode = volume.disk.write('d/old', contentOfText('rotten'));
  const damaged = { dot: { origin, seq }, fingerprint: fingerprintOf(inode), found: contentOfText('rotten').id };
  journal.disk.record([{ path: 'd/old', entry: { ...damaged, damaged: true } }]);
  for (const text of ['rotten and edited', 'edited once more']) {
    volume.disk.write('d/old', contentOfText(text));
    await passes(5_000);
    const contents = journal.heads.at('d/old').map(({ content }) => content);
    expect(new Set(contents)).toEqual(new Set([missing.content, contentOfText(text).id]));
  }
  volume.disk.unlink('d/old');
  await passes(5_000);
  expect(journal.heads.at('d/old')).toContainEqual(missing);
  volume.disk.write('d/old', contentOfText('from a backup'));
  await passes(5_000);
  expect(journal.heads.at('d/old')).toMatchObject([{ content: contentOfText('from a backup').id }]);
  changes.stop();
});

test('[CT12] a delete of the older version on the disk supersedes it too', async () => {
  const { volume, journal, changes, passes } = await memberWithMissing();
  volume.disk.unlink('d/old');
  await passes(5_000);
  expect(journal.heads.at('d/old')).toMatchObject([{ origin: journal.origin, kind: 'delete' }]);
  changes.stop();
});

test('[CT12] a delete of a directory supersedes the missing contents in it', async () => {
  const { volume, journal, changes, passes } = await memberWithMissing();
  volume.disk.unlink('d/old');
  volume.disk.rmdir('d');
  await passes(10_000);
  for (const path of ['d', 'd/old', 'd/new']) expect(journal.heads.at(path), path).toMatchObject([{ kind: 'delete' }]);
  changes.stop();
});

test('[CT13] a content is lost once all members have lacked it for a while, and no member that is away may have it', () => {
  const member = new LoneMember();
  const gone = member.operation('file', { kind: 'put', text: 'gone' }, { origin: bee });
  const [ant, cat] = ['ant', 'cat'] as MemberId[] as [MemberId, MemberId];
  let lostCount = 0;
  const missing = new MissingContents(() => lostCount++);
  const search = (lacking: readonly MemberId[], nowMs: number): boolean => {
    missing.searched(gone, {
      lacking: lacking.map((id) => ({ member: id, shows: false })),
      members: [ant, cat],
      nowMs,
    });
    return missing.isLost(gone);
  };
  expect(search([ant], 0)).toBe(false);
  expect(missing.blockedBy(gone)).toEqual([cat]);
  expect(search([ant], lostAfterMs)).toBe(false);
  expect(search([ant, cat], lostAfterMs)).toBe(false);
  expect(search([ant], lostAfterMs + 1)).toBe(false);
  expect(search([ant, cat], lostAfterMs + 2)).toBe(false);
  expect(search([ant, cat], 2 * lostAfterMs + 2)).toBe(true);
  expect(lostCount).toBe(1);
  // A member joins that was not asked.
  expect(search([cat], 2 * lostAfterMs + 3)).toBe(false);
});

test('[CT12] a report does not count while an earlier change at the path or above it is not journaled', () => {
  const member = new LoneMember();
  const gone = member.operation('d/e/file', { kind: 'put', text: 'gone' }, { origin: bee });
  const missing = new MissingContents();
  let changing = 'd';
  missing.heed((path) => path === changing);
  missing.report(gone);
  expect([missing.isReported(gone), missing.reportedBelow('d')]).toEqual([false, []]);
  changing = 'd/other';
  missing.report(gone);
  expect([missing.isReported(gone), missing.reportedBelow('d')]).toEqual([true, [gone]]);
});
