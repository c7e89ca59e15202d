import type { Operation, OriginId } from '@lockstep/shared';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { conflictPath } from '../../core/conflict-name.ts';
import type { DiskEntry } from '../../core/entry.ts';
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
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { ApplyLoop } from '../apply/apply-loop.ts';
import { RenameGate } from '../apply/rename-gate.ts';
import type { Folder } from '../ports/folder.ts';
import { PowerCutCheck } from './power-cut-check.ts';
import { WriteBack } from './write-back.ts';

beforeEach(() => openMember());

describe('[PC2] after another boot of the machine', () => {
  test('a file that is empty is fetched, and not published', async () => {
    await writes('file', first);
    isLeft('file', contentOfText(''));
    const before = operations();
    expect(await begins('boot-2')).toBe(true);
    expect(operations()).toBe(before);
    expect(member.journal.disk.at('file')).toMatchObject({ damaged: true });
    expect(member.journal.totals.counts().pending).toBe(1);
    expect(reported()).toEqual([{ fetched: 1, undone: 0, copies: 0, paths: ['file'] }]);
    expect(copies()).toEqual([]);
  });

  test('a file that is missing is fetched, and not deleted', async () => {
    await writes('file', first);
    member.volume.disk.unlink('file');
    const before = operations();
    expect(await begins('boot-2')).toBe(true);
    expect(operations()).toBe(before);
    expect(member.journal.heads.at('file')).toMatchObject([{ kind: 'put' }]);
    expect(reported()).toMatchObject([{ fetched: 1, paths: ['file'] }]);
  });

  // Only the names of the directory and of what is above it were lost: the file itself and its name had been made durable.
  test("another member's file below a directory that is gone is fetched, and not deleted", async () => {
    const { context, journal, transfers, volume } = member;
    volume.disk.mkdir('music');
    await member.passes(3_000);
    const put = member.operation('music/song', { kind: 'put', text: 'song' }, { origin: 'bee' as OriginId });
    member.keeps('song');
    member.received(put);
    new ApplyLoop(context, transfers, new RenameGate(journal, context.clock, () => [])).poke();
    await member.passes(1_000);
    expect(journal.disk.at('music/song')?.fingerprint).toBeDefined();
    volume.disk.unlink('music/song');
    volume.disk.rmdir('music');
    const before = operations();
    expect(await begins('boot-2')).toBe(true);
    repairs();
    await member.passes(3_000);
    expect(operations()).toBe(before);
    expect(journal.heads.at('music/song')).toMatchObject([{ kind: 'put' }]);
    expect(volume.disk.at('music/song')?.content?.id).toBe(contentOfText('song').id);
    expect(reported()).toMatchObject([{ fetched: 2, paths: ['music', 'music/song'] }]);
  });

  test('an older version of the path is updated, and not published', async () => {
    await writes('file', first);
    const { mtimeMs = 0 } = member.volume.disk.at('file') ?? {};
    await writes('file', second);
    isLeft('file', first, (member.volume.disk.at('file')?.mtimeMs ?? 0) - mtimeMs);
    const before = operations();
    expect(await begins('boot-2', member.context.clock.wallMs())).toBe(true);
    expect(operations()).toBe(before);
    expect(member.journal.heads.at('file')).toMatchObject([{ content: second.id }]);
    expect(member.journal.disk.at('file')).toMatchObject({ content: first.id });
    expect(reported()).toMatchObject([{ fetched: 0, undone: 1 }]);
  });

  // Simulator, seed 169162: a rename published the time of the older version, which the disk did not have.
  test('an older version of the path, of another time, does not count as shown', async () => {
    await writes('file', first);
    await writes('file', second);
    isLeft('file', first);
    expect(await begins('boot-2', member.context.clock.wallMs())).toBe(true);
    expect(member.journal.disk.at('file')).toMatchObject({ content: first.id, damaged: true });
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
    const contents = member.journal.heads.at('file').map(({ content }) => content);
    expect(contents.sort()).toEqual([first.id, second.id].sort());
  });

  test('a conflict copy that was given the name of its original since is an edit', async () => {
    await writes('file', second);
    await writes('file.conflict-20260101T000000000Z-bee', first);
    await writes('file', contentOfText('the winner'));
    member.volume.disk.rename('file.conflict-20260101T000000000Z-bee', 'file');
    Object.assign(member.volume.disk.at('file') ?? {}, { content: second });
    await begins('boot-2', member.context.clock.wallMs());
    expect(member.journal.heads.at('file').map(({ content }) => content)).toContain(second.id);
  });

  // The simulator's seed 141859. The version of bee that replaces the file has not been applied yet.
  test('a conflict copy that was given the name of its original since is a version of its own', async () => {
    await writes('file', first);
    const [lost] = member.journal.heads.at('file') as [Operation];
    const copy = conflictPath('file', lost.hlc, 'ant');
    await writes(copy, first);
    member.volume.disk.utimes(copy, member.volume.disk.at('file')?.mtimeMs ?? 0);
    await member.passes(3_000);
    const bootedMs = member.context.clock.wallMs();
    const { disk } = member.journal;
    disk.synced(0, disk.unsynced().mark, { beganMs: bootedMs, endedMs: bootedMs });
    const { path, ...row } = disk.at('file') as DiskEntry;
    disk.record([{ path, entry: { ...row, unsynced: true } }]);
    member.received(
      member.operation('file', { kind: 'put', text: 'by bee' }, { origin: 'bee' as OriginId, parents: [lost] }),
    );
    await member.passes(1_000);
    member.volume.disk.rename(copy, 'file');
    expect(await begins('boot-2', bootedMs)).toBe(false);
    expect(member.journal.heads.at('file').map(({ content }) => content)).toContain(first.id);
  });

  test('a later write is an edit that supersedes nothing', async () => {
    await writes('file', first);
    await member.passes(10_000);
    member.volume.disk.write('file', second);
    expect(await begins('boot-2')).toBe(false);
    const contents = member.journal.heads.at('file').map(({ content }) => content);
    expect(contents.sort()).toEqual([first.id, second.id].sort());
    expect(reported()).toEqual([]);
  });

  test('an edit that another power cut undoes before it was found leaves the file whole', async () => {
    await writes('file', first);
    changes.stop();
    isLeft('file', second, -5_000);
    const check = new PowerCutCheck(member.context);
    check.begin({ id: 'boot-2', beganMs: 0 }, quiet);
    await member.passes(1_000);
    check.stop();
    expect(member.journal.disk.at('file')).toMatchObject({ damaged: true });
    isLeft('file', first, 5_000);
    await begins('boot-3');
    const row = member.journal.disk.at('file');
    expect([row?.content, row?.damaged]).toEqual([first.id, undefined]);
    expect(member.journal.heads.at('file')).toMatchObject([{ content: first.id }]);
  });

  test('durable files are not examined', async () => {
    await writes('file', first);
    const beganMs = member.context.clock.wallMs();
    member.journal.disk.synced(0, member.journal.disk.unsynced().mark, { beganMs, endedMs: beganMs });
    member.volume.disk.unlink('file');
    expect(await begins('boot-2')).toBe(false);
    expect(member.journal.heads.at('file')).toMatchObject([{ kind: 'delete' }]);
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

  test('an agent that stops in the middle leaves to the next one what it has not examined', async () => {
    await writes('file', first);
    isLeft('file', contentOfText(''));
    changes.stop();
    member.volume.missing = true;
    const check = new PowerCutCheck(member.context);
    const writeBack = new WriteBack(member.context);
    check.begin({ id: 'boot-2', beganMs: 0 }, quiet);
    await member.passes(1_000);
    member.volume.missing = false;
    check.stop();
    const stopped = writeBack.stop(1_000);
    await member.passes(2_000);
    await stopped;
    expect(member.journal.disk.unsynced().paths).toContain('file');
    expect(await begins('boot-2')).toBe(true);
    expect(member.journal.heads.at('file')).toMatchObject([{ content: first.id }]);
    expect(reported()).toMatchObject([{ fetched: 1 }]);
  });

  test('the examination is repeated if it fails', async () => {
    await writes('file', first);
    isLeft('file', contentOfText(''));
    changes.stop();
    const { folder, log } = member.context;
    const errors = vi.spyOn(log, 'error').mockImplementation(() => undefined);
    vi.spyOn(folder, 'observe').mockRejectedValueOnce(new Error('the thread has ended'));
    const check = new PowerCutCheck(member.context);
    check.begin({ id: 'boot-2', beganMs: 0 }, quiet);
    await member.passes(500);
    expect(member.context.lastBoot.isExamined).toBe(false);
    await member.passes(3_000);
    expect(member.context.lastBoot.isExamined).toBe(true);
    expect(errors).toHaveBeenCalledOnce();
    expect(member.journal.disk.at('file')).toMatchObject({ damaged: true });
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

describe('[PC3] bytes that no operation at the path has', () => {
  test('are kept under the name of a conflict copy, and journaled as one', async () => {
    await writes('file', first);
    const foreign = contentOfText('neither of them');
    isLeft('file', foreign);
    expect(await begins('boot-2')).toBe(true);
    const [copy = ''] = copies();
    expect(copy).toMatch(/^file\.conflict-/);
    expect(member.volume.disk.at(copy)?.content?.id).toBe(foreign.id);
    expect(member.journal.heads.at(copy)).toMatchObject([{ kind: 'put', content: foreign.id }]);
    expect(reported()).toMatchObject([{ fetched: 1, copies: 1 }]);
    expect(member.context.problems.list().find(({ code }) => code === 'power-cut')?.detail).toContain(copy);
  });

  test('stay where they are, and are published as an edit, if no copy can be made', async () => {
    const refuse: Folder['apply'] = async (requests) => requests.map(() => ({ result: 'changed' }));
    const refusing = new LoneMember(
      (folder) =>
        new Proxy(folder, {
          get(target, name) {
            const value: unknown = name === 'apply' ? refuse : Reflect.get(target, name, target);
            return typeof value === 'function' ? value.bind(target) : value;
          },
        }),
    );
    await openMember(refusing);
    await writes('file', first);
    const foreign = contentOfText('neither of them');
    isLeft('file', foreign);
    await begins('boot-2');
    expect(copies()).toEqual([]);
    const heads = member.journal.heads.at('file').map(({ content }) => content);
    expect(heads.toSorted()).toEqual([first.id, foreign.id].toSorted());
  });

  test('are copied once, regardless of the number of starts before that is done', async () => {
    await writes('file', first);
    isLeft('file', contentOfText('neither of them'));
    const rows = member.journal.disk.at('file');
    await begins('boot-2');
    // The agent was killed before it recorded the result.
    if (rows === undefined) throw new Error('file has no row');
    const { path, ...entry } = rows;
    member.journal.disk.record([{ path, entry }]);
    await begins('boot-3');
    expect(copies()).toHaveLength(1);
  });
});
