import { type MemberId, memberPath, type OriginId, parentOf } from '@lockstep/shared';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Content, contentOfBytes, contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { ApplyLoop } from '../apply/apply-loop.ts';
import { RenameGate } from '../apply/rename-gate.ts';
import { WriteBack } from '../durability/write-back.ts';
import { LocalChanges } from '../local/local-changes.ts';
import type { Folder } from '../ports/folder.ts';
import { Confirmer } from './confirmer.ts';
import { PowerCutCheck } from './power-cut-check.ts';

const quiet = (): void => undefined;
const first = contentOfText('the first version');
const second = contentOfText('the second version, which is longer');

let member: LoneMember;
let changes: LocalChanges;

/** Starts the watcher, and waits until the whole folder was compared with the journal. */
async function startAgent(): Promise<void> {
  changes = new LocalChanges(member.context, member.operationWriter, 600_000);
  const started = changes.start();
  await member.passes(3_000);
  await started;
}

/** A user writes a file, which is journaled; no sync has made it durable. */
async function writes(path: string, content: Content): Promise<void> {
  const directory = parentOf(path);
  if (member.volume.disk.at(directory) === undefined) member.volume.disk.mkdir(directory);
  member.volume.disk.write(path, content);
  await member.passes(3_000);
  expect(member.journal.heads(path)).toMatchObject([{ content: content.id }]);
  expect(member.journal.disk(path)).toMatchObject({ unsynced: true });
}

/** Sets the content that the power cut left at the path, with times `earlierMs` before those of the file. */
function isLeft(path: string, content: Content, earlierMs = 0): void {
  const inode = member.volume.disk.at(path);
  if (inode === undefined) throw new Error(`${path} is not there`);
  inode.content = content;
  inode.mtimeMs -= earlierMs;
  inode.ctimeMs -= earlierMs;
}

/** Starts the agent in a boot of its machine. True if the check requests actions for its findings. */
async function begins(id: string | undefined, beganMs = 0): Promise<boolean> {
  changes.stop();
  let isFound = false;
  const check = new PowerCutCheck(member.context);
  check.begin(id === undefined ? undefined : { id, beganMs }, () => {
    isFound = true;
  });
  await startAgent();
  check.stop();
  return isFound;
}

/** Starts the loops that sync, read unconfirmed files again and apply contents. */
function repairs(): void {
  const { context, journal, transfers } = member;
  new Confirmer(context, () => false).poke();
  new WriteBack(context).poke();
  new ApplyLoop(context, transfers, new RenameGate(journal, context.clock, () => [])).poke();
}

const reported = (): readonly Record<string, unknown>[] =>
  member.journal
    .events(0, 100)
    .filter(({ kind }) => kind === 'power-cut')
    .map(({ data }) => data);

const operations = (): number => member.journal.counts().operations;
const copies = (): readonly string[] =>
  [...member.volume.disk.entries()].map(([path]) => path).filter((path) => path.includes('.conflict-'));

beforeEach(async () => {
  member = new LoneMember();
  await startAgent();
  await begins('boot-1');
});

describe('[PC2] after another boot of the machine', () => {
  test('a file that is empty is fetched, and not published', async () => {
    await writes('file', first);
    isLeft('file', contentOfText(''));
    const before = operations();
    expect(await begins('boot-2')).toBe(true);
    expect(operations()).toBe(before);
    expect(member.journal.disk('file')).toMatchObject({ damaged: true });
    expect(member.journal.counts().pending).toBe(1);
    expect(reported()).toEqual([{ fetched: 1, undone: 0, copies: 0, paths: ['file'] }]);
    expect(copies()).toEqual([]);
  });

  test('a file that is missing is fetched, and not deleted', async () => {
    await writes('file', first);
    member.volume.disk.unlink('file');
    const before = operations();
    expect(await begins('boot-2')).toBe(true);
    expect(operations()).toBe(before);
    expect(member.journal.heads('file')).toMatchObject([{ kind: 'put' }]);
    expect(reported()).toMatchObject([{ fetched: 1, paths: ['file'] }]);
  });

  test('an older version of the path is updated, and not published', async () => {
    await writes('file', first);
    const { mtimeMs = 0 } = member.volume.disk.at('file') ?? {};
    await writes('file', second);
    isLeft('file', first, (member.volume.disk.at('file')?.mtimeMs ?? 0) - mtimeMs);
    const before = operations();
    expect(await begins('boot-2', member.context.clock.wallMs())).toBe(true);
    expect(operations()).toBe(before);
    expect(member.journal.heads('file')).toMatchObject([{ content: second.id }]);
    expect(member.journal.disk('file')).toMatchObject({ content: first.id });
    expect(reported()).toMatchObject([{ fetched: 0, undone: 1 }]);
  });

  test('an older version of the path that was moved away and back since supersedes nothing', async () => {
    await writes('file', second);
    const { mtimeMs = 0 } = member.volume.disk.at('file') ?? {};
    await writes('file', first);
    isLeft('file', second, (member.volume.disk.at('file')?.mtimeMs ?? 0) - mtimeMs);
    const bootedMs = member.context.clock.wallMs();
    await member.passes(1_000);
    const inode = member.volume.disk.at('file');
    Object.assign(inode ?? {}, { ctimeMs: member.context.clock.wallMs() });
    expect(await begins('boot-2', bootedMs)).toBe(false);
    const contents = member.journal.heads('file').map(({ content }) => content);
    expect(contents.sort()).toEqual([first.id, second.id].sort());
  });

  test('a conflict copy that was given the name of its original since is an edit', async () => {
    await writes('file', second);
    await writes('file.conflict-20260101T000000000Z-bee', first);
    await writes('file', contentOfText('the winner'));
    member.volume.disk.rename('file.conflict-20260101T000000000Z-bee', 'file');
    Object.assign(member.volume.disk.at('file') ?? {}, { content: second });
    await begins('boot-2', member.context.clock.wallMs());
    expect(member.journal.heads('file').map(({ content }) => content)).toContain(second.id);
  });

  test('a later write is an edit that supersedes nothing', async () => {
    await writes('file', first);
    await member.passes(10_000);
    member.volume.disk.write('file', second);
    expect(await begins('boot-2')).toBe(false);
    const contents = member.journal.heads('file').map(({ content }) => content);
    expect(contents.sort()).toEqual([first.id, second.id].sort());
    expect(reported()).toEqual([]);
  });

  test('durable files are not examined', async () => {
    await writes('file', first);
    const beganMs = member.context.clock.wallMs();
    member.journal.synced(0, member.journal.unsynced().mark, { beganMs, endedMs: beganMs });
    member.volume.disk.unlink('file');
    expect(await begins('boot-2')).toBe(false);
    expect(member.journal.heads('file')).toMatchObject([{ kind: 'delete' }]);
  });

  test('the folder stays locked until it is back', async () => {
    await writes('file', first);
    isLeft('file', contentOfText(''));
    changes.stop();
    member.volume.missing = true;
    const check = new PowerCutCheck(member.context);
    check.begin({ id: 'boot-2', beganMs: 0 }, quiet);
    let isFree = false;
    const locked = member.context.lock.run(async () => {
      isFree = true;
    });
    await member.passes(20_000);
    expect(isFree).toBe(false);
    member.volume.missing = false;
    await member.passes(2_000);
    await locked;
    expect(reported()).toMatchObject([{ fetched: 1 }]);
    check.stop();
  });

  test('the problem is over once the disk shows the heads again', async () => {
    await writes('file', first);
    isLeft('file', contentOfText(''));
    changes.stop();
    const check = new PowerCutCheck(member.context);
    check.begin({ id: 'boot-2', beganMs: 0 }, quiet);
    await startAgent();
    expect(member.context.problems.has('power-cut')).toBe(true);
    member.keeps('the first version');
    repairs();
    await member.passes(5_000);
    expect(member.volume.disk.at('file')?.content?.id).toBe(first.id);
    expect(member.context.problems.has('power-cut')).toBe(false);
    check.stop();
  });
});

describe('[PC6] a store through a mapping into a file that a power cut left', () => {
  const torn = contentOfText('');
  const stored = contentOfText('stored without a trace');

  /** The agent finds `left` at the path, in a mapped page that was not written back. */
  async function finds(left: Content): Promise<void> {
    await writes('file', first);
    isLeft('file', left, 60_000);
    expect(await begins('boot-2')).toBe(true);
    expect(member.journal.disk('file')).toMatchObject({ damaged: true, cut: true, unconfirmed: 'dirty' });
  }

  function stores(): void {
    const inode = member.volume.disk.at('file');
    if (inode === undefined) throw new Error('file is not there');
    inode.content = stored;
  }

  const contents = (path: string): readonly unknown[] => member.journal.heads(path).map(({ content }) => content);

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
    expect(member.journal.unconfirmed('')).toEqual([]);
  });
});

describe('[PC7] a write just before the machine stopped that no detection had found', () => {
  const bee = 'bee' as MemberId;
  const empty = contentOfText('');

  /** Bee holds the file. The user writes `content`, the machine stops at once, and the agent starts again. */
  async function isLeftWith(content: Content, { isRunning = true }: { readonly isRunning?: boolean } = {}) {
    const record = { id: bee, name: 'bee', addresses: [], standing: 'joined' as const };
    const joined = member.operation(memberPath(bee), { kind: 'member' }, { origin: 'bee.1' as OriginId });
    member.received({ ...joined, member: record });
    await writes('file', first);
    const { journal, context, volume } = member;
    const beganMs = context.clock.wallMs();
    journal.synced(0, journal.unsynced().mark, { beganMs, endedMs: beganMs });
    journal.saveAck(bee, { vector: journal.known(), ranges: {} });
    changes.stop();
    volume.disk.write('file', content);
    if (isRunning) journal.setSetting('running', 'yes');
    await member.passes(10);
    await begins('boot-2', context.clock.wallMs());
  }

  test.each([
    ['empty', empty],
    ['nothing but zeros', contentOfBytes(new Uint8Array(first.size))],
  ])('is fetched if it is %s, and not published', async (_what, left) => {
    await isLeftWith(left);
    expect(member.journal.heads('file')).toMatchObject([{ content: first.id }]);
    expect(member.journal.disk('file')).toMatchObject({ damaged: true, cut: true, found: left.id });
    expect(reported()).toMatchObject([{ fetched: 1, paths: ['file'] }]);
    expect(copies()).toEqual([]);
  });

  test('supersedes nothing if it is neither', async () => {
    await isLeftWith(second);
    const contents = member.journal.heads('file').map(({ content }) => content);
    expect(new Set(contents)).toEqual(new Set([first.id, second.id]));
  });

  test('is an edit if the agent had ended before', async () => {
    await isLeftWith(empty, { isRunning: false });
    expect(member.journal.heads('file')).toMatchObject([{ content: empty.id }]);
    expect(reported()).toEqual([]);
  });
});

describe('[PC2] the kind of a start', () => {
  test('the same boot: nothing was lost, and a difference is an edit', async () => {
    await writes('file', first);
    member.volume.disk.write('file', contentOfText(''));
    expect(await begins('boot-1')).toBe(false);
    expect(member.journal.heads('file')).toMatchObject([{ content: contentOfText('').id }]);
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
  ])('the same boot, and the clock was set %s: a file older than its row may be an edit', async (_how, beganMs) => {
    await writes('file', first);
    isLeft('file', contentOfText(''), 1);
    expect(await begins('boot-1', beganMs)).toBe(false);
    expect(member.journal.heads('file')).toMatchObject([{ content: contentOfText('').id }]);
  });

  test('the same boot, and the user wrote once more in the tick in which the row was recorded: it supersedes nothing', async () => {
    await writes('file', first);
    isLeft('file', second);
    const row = member.journal.disk('file');
    if (row === undefined) throw new Error('file has no row');
    const { path, ...entry } = row;
    member.journal.recordDisk([{ path, entry: { ...entry, racy: true } }]);
    expect(await begins('boot-1')).toBe(false);
    const contents = member.journal.heads('file').map(({ content }) => content);
    expect(new Set(contents)).toEqual(new Set([first.id, second.id]));
  });

  test('the same boot, and another file has the name, as after an exchange of directories: it supersedes nothing', async () => {
    await writes('file', first);
    const { disk } = member.volume;
    const inode = disk.write('/elsewhere/new', second);
    disk.rename('/elsewhere/new', 'file');
    inode.ctimeMs = 0;
    expect(await begins('boot-1')).toBe(false);
    const contents = member.journal.heads('file').map(({ content }) => content);
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

describe('[PC3] bytes that no operation at the path has', () => {
  test('are kept under the name of a conflict copy, and journaled as one', async () => {
    await writes('file', first);
    const foreign = contentOfText('neither of them');
    isLeft('file', foreign);
    expect(await begins('boot-2')).toBe(true);
    const [copy = ''] = copies();
    expect(copy).toMatch(/^file\.conflict-/);
    expect(member.volume.disk.at(copy)?.content?.id).toBe(foreign.id);
    expect(member.journal.heads(copy)).toMatchObject([{ kind: 'put', content: foreign.id }]);
    expect(reported()).toMatchObject([{ fetched: 1, copies: 1 }]);
    expect(member.context.problems.list().find(({ code }) => code === 'power-cut')?.detail).toContain(copy);
  });

  test('stay where they are, and are published as an edit, if no copy can be made', async () => {
    const refuse: Folder['apply'] = async (requests) => requests.map(() => ({ result: 'changed' }));
    member = new LoneMember(
      (folder) =>
        new Proxy(folder, {
          get(target, name) {
            const value: unknown = name === 'apply' ? refuse : Reflect.get(target, name, target);
            return typeof value === 'function' ? value.bind(target) : value;
          },
        }),
    );
    await startAgent();
    await begins('boot-1');
    await writes('file', first);
    const foreign = contentOfText('neither of them');
    isLeft('file', foreign);
    await begins('boot-2');
    expect(copies()).toEqual([]);
    const heads = member.journal.heads('file').map(({ content }) => content);
    expect(heads.toSorted()).toEqual([first.id, foreign.id].toSorted());
  });

  test('are copied once, regardless of the number of starts before that is done', async () => {
    await writes('file', first);
    isLeft('file', contentOfText('neither of them'));
    const rows = member.journal.disk('file');
    await begins('boot-2');
    // The agent was killed before it recorded the finding.
    if (rows === undefined) throw new Error('file has no row');
    const { path, ...entry } = rows;
    member.journal.recordDisk([{ path, entry }]);
    await begins('boot-3');
    expect(copies()).toHaveLength(1);
  });
});
