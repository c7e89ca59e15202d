import type { OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText, virtualContent } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { LocalChanges } from '../local/local-changes.ts';

const size = 3_000_000;
const bee = 'bee' as OriginId;
const never = new Promise<void>(() => undefined);

async function withLargeFile(options: { readonly keepsBirths: boolean } = { keepsBirths: true }) {
  const member = new LoneMember((folder) => folder, options);
  const { disk } = member.volume;
  const before = virtualContent('before', size);
  disk.write('old-name', before);
  const changes = new LocalChanges(member.context, member.operationWriter);
  const started = changes.start();
  await member.passes(10_000);
  await started;
  expect(member.journal.heads.at('old-name')).toMatchObject([{ content: before.id }]);
  const detected = async (): Promise<void> => {
    const settled = changes.settleAll('', never);
    await member.passes(10_000);
    await settled;
  };
  return { member, disk, before, detected };
}

test('[LC7] a large file that is renamed is journaled as renamed, and read at once', async () => {
  const { member, disk, before } = await withLargeFile();
  disk.rename('old-name', 'new-name');
  await member.passes(1_000);
  expect(member.journal.heads.at('new-name')).toMatchObject([{ content: before.id, from: 'old-name' }]);
  expect(member.journal.disk.at('new-name')?.racy ?? false).toBe(false);
});

test('[LC43] a renamed file keeps the mode that this file system could not give it', async () => {
  const { member, disk, detected } = await withLargeFile();
  const { journal } = member.context;
  disk.write('small', contentOfText('small'));
  await detected();
  const fingerprint = journal.disk.at('small')?.fingerprint;
  const theirs = {
    ...member.operation('small', { kind: 'attr', text: 'small' }, { origin: bee, parents: journal.heads.at('small') }),
    mode: 0o600,
  };
  member.received(theirs);
  const { origin, seq, content } = theirs;
  journal.disk.record([{ path: 'small', entry: { dot: { origin, seq }, content, fingerprint } }]);
  disk.rename('small', 'renamed');
  await detected();
  expect(journal.heads.at('renamed')).toMatchObject([{ from: 'small', mode: 0o600 }]);
});

test('[LC10] a problem at either name of a rename is over with it', async () => {
  const { member, disk, detected } = await withLargeFile();
  const { problems } = member.context;
  disk.write('small', contentOfText('small'));
  await detected();
  problems.set('path-not-utf8', { path: 'renamed' }, 'The target of the link that was here is not UTF-8.');
  problems.set('path-permission', { path: 'small' }, 'The file could not be read.');
  disk.rename('small', 'renamed');
  await detected();
  expect(member.journal.heads.at('renamed')).toMatchObject([{ from: 'small' }]);
  expect(problems.list()).toEqual([]);
});

test('[LC30] another large file of equal size, time and inode number is not taken for the one that was removed', async () => {
  const { member, disk } = await withLargeFile();
  const { mtimeMs = 0 } = member.journal.disk.at('old-name')?.fingerprint ?? {};
  const other = virtualContent('other', size);
  disk.unlink('old-name');
  disk.write('new-name', other);
  disk.utimes('new-name', mtimeMs);
  await member.passes(1_000);
  expect(member.journal.log.rows({ path: 'new-name', beforeRow: Number.MAX_SAFE_INTEGER, limit: 9 })).toMatchObject([
    { operation: { kind: 'put', content: other.id } },
  ]);
});

test('[LC30] without birth times such a file is taken for the old one, and corrected within a second', async () => {
  const { member, disk } = await withLargeFile({ keepsBirths: false });
  const { mtimeMs = 0 } = member.journal.disk.at('old-name')?.fingerprint ?? {};
  const other = virtualContent('other', size);
  disk.unlink('old-name');
  disk.write('new-name', other);
  disk.utimes('new-name', mtimeMs);
  await member.passes(1_000);
  expect(member.journal.heads.at('new-name')).toMatchObject([{ kind: 'put', content: other.id }]);
});

test('[LC7] a large file that was changed, given its old time and renamed before a detection, is not taken for the old one', async () => {
  const { member, disk, detected } = await withLargeFile();
  const { mtimeMs = 0 } = member.journal.disk.at('old-name')?.fingerprint ?? {};
  const after = virtualContent('after', size);
  disk.write('old-name', after);
  disk.utimes('old-name', mtimeMs);
  disk.rename('old-name', 'new-name');
  await detected();
  expect(member.journal.heads.at('new-name')).toMatchObject([{ content: after.id }]);
  expect(member.journal.heads.at('old-name')).toMatchObject([{ kind: 'delete' }]);
});

test.each([
  { what: 'small', equal: contentOfText('equal'), keepsBirths: true },
  { what: 'small', equal: contentOfText('equal'), keepsBirths: false },
  { what: 'large', equal: virtualContent('equal', size), keepsBirths: true },
  { what: 'large', equal: virtualContent('equal', size), keepsBirths: false },
])(
  '[LC33] $what files that a restore puts back with swapped inode numbers are no renames (birth times: $keepsBirths)',
  async ({ equal, keepsBirths }) => {
    const { member, disk, detected } = await withLargeFile({ keepsBirths });
    const names = ['kept', 'one', 'two'];
    const putBack = (): void => {
      for (const name of names) {
        disk.write(name, equal);
        disk.utimes(name, 1_000);
      }
    };
    putBack();
    await detected();
    const inodes = names.map((name) => disk.at(name)?.number);
    for (const name of ['kept', 'two', 'one']) disk.unlink(name);
    putBack();
    expect(names.map((name) => disk.at(name)?.number)).toEqual([inodes[1], inodes[2], inodes[0]]);
    // Without birth times a restored file cannot be distinguished from a renamed one whose old name is gone.
    if (keepsBirths) disk.unlink('two');
    await detected();
    const journaled = names.map((name) =>
      member.journal.log
        .rows({ path: name, beforeRow: Number.MAX_SAFE_INTEGER, limit: 9 })
        .map(({ operation }) => operation.kind),
    );
    expect(journaled).toEqual([['put'], ['put'], keepsBirths ? ['delete', 'put'] : ['put']]);
  },
);

test.each([true, false])(
  '[LC33] a file renamed over one of equal content is a rename (birth times: %s)',
  async (keepsBirths) => {
    const { member, disk, detected } = await withLargeFile({ keepsBirths });
    const equal = virtualContent('equal', size);
    for (const name of ['copy', 'original']) {
      disk.write(name, equal);
      disk.utimes(name, 1_000);
    }
    await detected();
    disk.rename('copy', 'original');
    await detected();
    // Without an operation the content would be lost with the old name if another version of the path is on its way.
    expect(member.journal.heads.at('original')).toMatchObject([{ kind: 'put', content: equal.id, from: 'copy' }]);
  },
);

test.each([true, false])(
  '[LC33] two files that exchange names, one of which already has its new content, are renamed (birth times: %s)',
  async (keepsBirths) => {
    const { member, disk, detected } = await withLargeFile({ keepsBirths });
    const equal = contentOfText('equal');
    for (const name of ['original', 'copy']) {
      disk.write(name, equal);
      disk.utimes(name, 1_000);
    }
    await detected();
    const shown = member.journal.heads.at('original');
    member.received(member.operation('original', { kind: 'put', text: 'by bee' }, { origin: bee, parents: shown }));
    disk.write('original', contentOfText('edited'));
    disk.rename('original', 'swap');
    disk.rename('copy', 'original');
    disk.rename('swap', 'copy');
    await detected();
    // Else the version of the other member would replace the one file that has this content.
    expect(member.journal.heads.at('original').map(({ content }) => content)).toContain(equal.id);
    expect(member.journal.heads.at('copy')).toMatchObject([{ content: contentOfText('edited').id }]);
  },
);

// The simulator's seed 59898: the file at the free path was taken for the former version there, and replaced by the later one.
test.each([true, false])(
  '[LC33] a file whose old name got another file, which was found first, is renamed (birth times: %s)',
  async (keepsBirths) => {
    const { member, disk, detected } = await withLargeFile({ keepsBirths });
    const equal = contentOfText('former');
    disk.write('other', equal);
    disk.utimes('other', 1_000);
    await detected();
    const former = member.operation('free', { kind: 'put', text: 'former' }, { origin: bee });
    member.received(
      former,
      member.operation('free', { kind: 'put', text: 'later' }, { origin: bee, parents: [former] }),
    );
    disk.rename('other', '/elsewhere/taken');
    disk.write('other', contentOfText('new'));
    await detected();
    disk.rename('/elsewhere/taken', 'free');
    await detected();
    expect(member.journal.heads.at('free').map(({ content }) => content)).toContain(equal.id);
    expect(member.journal.heads.at('other')).toMatchObject([{ content: contentOfText('new').id }]);
  },
);

test('[LC30] a small file of equal content that got the inode number of a removed one is not a rename of it', async () => {
  const { member, disk, detected } = await withLargeFile();
  const equal = contentOfText('equal');
  disk.write('gone', equal);
  await detected();
  const inode = disk.at('gone')?.number;
  disk.unlink('gone');
  disk.write('new', equal);
  expect(disk.at('new')?.number).toBe(inode);
  await detected();
  expect(member.journal.heads.at('new')).toMatchObject([{ kind: 'put', content: equal.id }]);
  expect(member.journal.heads.at('new')[0]?.from).toBeUndefined();
});

test('[LC33] a copy that is moved over the file it is a copy of stays a version of its own', async () => {
  const { member, disk, detected } = await withLargeFile();
  const equal = contentOfText('equal');
  disk.write('original', equal);
  disk.write('copy', equal);
  await detected();
  const shown = member.journal.heads.at('original');
  member.received(member.operation('original', { kind: 'put', text: 'by bee' }, { origin: bee, parents: shown }));
  disk.rename('copy', 'original');
  await detected();
  expect(member.journal.heads.at('copy')).toMatchObject([{ kind: 'delete' }]);
  expect(member.journal.heads.at('original').map(({ content }) => content)).toContain(equal.id);
});

test.each([true, false])(
  '[CF12] a file that lost and is moved out and back is a version of its own where its copy has other content (it has: %s)',
  async (hasOther) => {
    const { member, disk, detected } = await withLargeFile();
    const { journal } = member;
    const copy = 'original.conflict-20261121T065600476Z-ant';
    const lost = contentOfText('lost');
    disk.write('original', lost);
    disk.write(copy, lost);
    await detected();
    const shown = journal.heads.at('original');
    member.received(member.operation('original', { kind: 'put', text: 'by bee' }, { origin: bee, parents: shown }));
    disk.rename('original', '/elsewhere/original');
    if (hasOther) disk.write(copy, contentOfText('other'));
    await member.passes(1);
    disk.rename('/elsewhere/original', 'original');
    await detected();
    // Else the version of the other member would replace the one file that has this content.
    expect(journal.heads.at('original').some(({ content }) => content === lost.id)).toBe(hasOther);
  },
);
