import { type MemberId, memberPath, type OriginId } from '@lockstep/shared';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  begins,
  changes,
  copies,
  first,
  isLeft,
  member,
  openMember,
  operations,
  quiet,
  repairs,
  reported,
  second,
  startAgent,
  writes,
} from '../../sim/_power-cut.ts';
import { type Content, contentOfBytes, contentOfText } from '../../sim/disk/content.ts';
import { LastBoot } from '../state/last-boot.ts';
import { PowerCutCheck } from './power-cut-check.ts';

beforeEach(() => openMember());

describe('[PC6] a store through a mapping into a file that a power cut left', () => {
  const torn = contentOfText('');
  const stored = contentOfText('stored without a trace');

  /** The agent finds `left` at the path, in a mapped page that was not written back. */
  async function finds(left: Content): Promise<void> {
    await writes('file', first);
    isLeft('file', left, 60_000);
    expect(await begins('boot-2')).toBe(true);
    expect(member.journal.disk.at('file')).toMatchObject({ damaged: true, cut: true, unconfirmed: 'dirty' });
  }

  function stores(): void {
    const inode = member.volume.disk.at('file');
    if (inode === undefined) throw new Error('file is not there');
    inode.content = stored;
  }

  const contents = (path: string): readonly unknown[] => member.journal.heads.at(path).map(({ content }) => content);

  test('is found if no good version arrives', async () => {
    await finds(torn);
    stores();
    repairs();
    await member.passes(10_000);
    expect(new Set(contents('file'))).toEqual(new Set([first.id, stored.id]));
  });

  test('is found before the good version replaces it', async () => {
    await finds(torn);
    stores();
    member.keeps('the first version');
    repairs();
    await member.passes(10_000);
    expect(new Set(contents('file'))).toEqual(new Set([first.id, stored.id]));
  });

  test('is found if only the time was damaged', async () => {
    await finds(first);
    stores();
    repairs();
    await member.passes(10_000);
    expect(new Set(contents('file'))).toEqual(new Set([first.id, stored.id]));
  });

  test('delays the repair no longer than needed if there is none', async () => {
    await finds(torn);
    member.keeps('the first version');
    const before = operations();
    repairs();
    await member.passes(10_000);
    expect(member.volume.disk.at('file')?.content?.id).toBe(first.id);
    expect(operations()).toBe(before);
    expect(member.journal.disk.unconfirmed('')).toEqual([]);
  });
});

describe('[PC7] a write just before the machine stopped that no detection had found', () => {
  const bee = 'bee' as MemberId;
  const empty = contentOfText('');

  interface Before {
    readonly isRunning?: boolean;
    /** A sync had made the version of before durable. */
    readonly isSynced?: boolean;
  }

  /** Bee holds the file. The user writes `content`, and the machine stops at once. Resolves with the begin of the next boot. */
  async function isCutOff(content: Content, { isRunning = true, isSynced = true }: Before = {}) {
    const record = { id: bee, name: 'bee', addresses: [], membership: 'joined' as const };
    const joined = member.operation(memberPath(bee), { kind: 'member' }, { origin: 'bee.1' as OriginId });
    member.received({ ...joined, member: record });
    await writes('file', first);
    const { journal, context, volume } = member;
    const beganMs = context.clock.wallMs();
    if (isSynced) journal.disk.synced(0, journal.disk.unsynced().mark, { beganMs, endedMs: beganMs });
    journal.acks.save(bee, { vector: journal.log.known(), ranges: {} });
    changes.stop();
    volume.disk.write('file', content);
    if (isRunning) journal.settings.set('running', 'yes');
    await member.passes(10);
    return context.clock.wallMs();
  }

  /** As `isCutOff`, and the agent starts again. */
  async function isLeftWith(content: Content, how?: Before): Promise<void> {
    await begins('boot-2', await isCutOff(content, how));
  }

  test.each([
    ['empty', empty],
    ['nothing but zeros', contentOfBytes(new Uint8Array(first.size))],
  ])('is fetched if it is %s, and not published', async (_what, left) => {
    await isLeftWith(left);
    expect(member.journal.heads.at('file')).toMatchObject([{ content: first.id }]);
    expect(member.journal.disk.at('file')).toMatchObject({ damaged: true, cut: true, found: left.id });
    expect(reported()).toMatchObject([{ fetched: 1, paths: ['file'] }]);
    expect(copies()).toEqual([]);
  });

  // A small file that a program appended to: the disk got its new length, and not the bytes.
  test.each([
    ['had made durable', true],
    ['had not made durable', false],
  ])(
    'is kept as a copy if it ends in zeros, and the version of before, which the agent %s, keeps the name',
    async (_what, isSynced) => {
      const left = contentOfText(`the first version, and then\0\0\0\0`);
      await isLeftWith(left, { isSynced });
      expect(member.journal.heads.at('file')).toMatchObject([{ content: first.id }]);
      expect(member.journal.disk.at('file')).toMatchObject({ damaged: true, found: left.id });
      const kept = copies();
      expect(kept.map((path) => member.volume.disk.at(path)?.content?.id)).toEqual([left.id]);
      expect(reported()).toMatchObject([{ paths: ['file'] }]);
    },
  );

  test('is fetched too if the first agent after that was stopped before it had examined the folder', async () => {
    const beganMs = await isCutOff(empty);
    const check = new PowerCutCheck(member.context);
    check.begin({ id: 'boot-2', beganMs }, quiet);
    await member.passes(100);
    check.stop();
    Object.assign(member.context, { lastBoot: new LastBoot() });
    await begins('boot-2', beganMs);
    expect(member.journal.heads.at('file')).toMatchObject([{ content: first.id }]);
    expect(reported()).toMatchObject([{ fetched: 1, paths: ['file'] }]);
  });

  test('is not remembered any more once an agent has examined the folder', async () => {
    const beganMs = await isCutOff(second);
    const check = new PowerCutCheck(member.context);
    check.begin({ id: 'boot-2', beganMs }, quiet);
    await startAgent();
    check.compared();
    check.stop();
    expect(member.journal.settings.get('cut-off-at')).toBe('');
  });

  test('supersedes nothing if it is neither', async () => {
    await isLeftWith(second);
    const contents = member.journal.heads.at('file').map(({ content }) => content);
    expect(new Set(contents)).toEqual(new Set([first.id, second.id]));
  });

  test('is an edit if the agent had ended before', async () => {
    await isLeftWith(empty, { isRunning: false });
    expect(member.journal.heads.at('file')).toMatchObject([{ content: empty.id }]);
    expect(reported()).toEqual([]);
  });
});

describe('[PC2] the kind of a start', () => {
  test('the same boot: nothing was lost, and a difference is an edit', async () => {
    await writes('file', first);
    member.volume.disk.write('file', contentOfText(''));
    expect(await begins('boot-1')).toBe(false);
    expect(member.journal.heads.at('file')).toMatchObject([{ content: contentOfText('').id }]);
  });

  test('the same boot, and a state that no user can have left: the disk was removed before the write reached it', async () => {
    await writes('d/file', first);
    await writes('d/other', first);
    isLeft('d/file', contentOfText(''));
    const { disk } = member.volume;
    const directory = disk.at('d');
    const { ctimeMs = 0 } = directory ?? {};
    disk.unlink('d/other');
    Object.assign(directory ?? {}, { ctimeMs: ctimeMs - 1 });
    const before = operations();
    expect(await begins('boot-1')).toBe(true);
    expect(operations()).toBe(before);
    expect(reported()).toMatchObject([{ fetched: 2, paths: ['d/file', 'd/other'] }]);
  });

  test.each([
    ['back', -2_000],
    ['forward, possibly after it was set back', 86_400_000],
  ])(
    'the same boot, and the clock was set %s: a file that is not as its row says supersedes nothing',
    async (_how, beganMs) => {
      await writes('file', first);
      member.volume.disk.write('file', contentOfText(''));
      expect(await begins('boot-1', beganMs)).toBe(false);
      const contents = member.journal.heads.at('file').map(({ content }) => content);
      expect(new Set(contents)).toEqual(new Set([first.id, contentOfText('').id]));
      // The next start compares with the clock as it is now.
      await writes('later', first);
      isLeft('later', contentOfText(''), 1);
      expect(await begins('boot-1', beganMs)).toBe(true);
      expect(reported()).toMatchObject([{ fetched: 1, paths: ['later'] }]);
    },
  );

  test('the same boot, and the clock was set: a file that is gone was deleted, and a directory with other entries is as it was', async () => {
    await writes('d/file', first);
    member.volume.disk.unlink('d/file');
    expect(await begins('boot-1', -2_000)).toBe(false);
    expect(member.journal.heads.at('d/file')).toMatchObject([{ kind: 'delete' }]);
    expect(member.journal.heads.at('d')).toMatchObject([{ kind: 'mkdir' }]);
    expect(member.journal.disk.at('d')?.damaged).toBeUndefined();
  });

  test('the same boot, and the user wrote once more in the tick in which the row was recorded: it supersedes nothing', async () => {
    await writes('file', first);
    isLeft('file', second);
    const row = member.journal.disk.at('file');
    if (row === undefined) throw new Error('file has no row');
    const { path, ...entry } = row;
    member.journal.disk.record([{ path, entry: { ...entry, racy: true } }]);
    expect(await begins('boot-1')).toBe(false);
    const contents = member.journal.heads.at('file').map(({ content }) => content);
    expect(new Set(contents)).toEqual(new Set([first.id, second.id]));
  });

  test('the same boot, and another file has the name, as after an exchange of directories: it supersedes nothing', async () => {
    await writes('file', first);
    const { disk } = member.volume;
    const inode = disk.write('/elsewhere/new', second);
    disk.rename('/elsewhere/new', 'file');
    inode.ctimeMs = 0;
    expect(await begins('boot-1')).toBe(false);
    const contents = member.journal.heads.at('file').map(({ content }) => content);
    expect(new Set(contents)).toEqual(new Set([first.id, second.id]));
  });

  test('a machine that cannot distinguish its boots: each start may follow a power cut', async () => {
    for (let start = 0; start < 2; start++) {
      await writes(`file-${start}`, first);
      isLeft(`file-${start}`, contentOfText(''));
      expect(await begins(undefined)).toBe(true);
    }
    expect(reported()).toHaveLength(2);
  });
});
