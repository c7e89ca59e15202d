import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../../testkit/eventually.ts';
import { MountError } from '../errno.ts';
import { FolderAccess } from '../folder/folder-access.ts';
import type { Draft } from '../ports/access.ts';
import type { RemoteFiles } from './remote-files.ts';
import { ReservedDraft } from './reserved-draft.ts';
import { RoomReserver } from './room-reserver.ts';

const mebibyte = 1_048_576;

/** The bytes that the agent has reserved, and those for which it has room. */
let reserved: number;
let roomBytes: number;
let questions: number;
/** Ends each room that the agent keeps, as at its end. */
let forget: () => void;
let isForgotten: boolean;
/** For so long from the first question on the agent does not answer. */
let awayMs: number;
/** Ends the question whether published files are journaled. */
let settled: (() => void) | undefined;
let reserver: RoomReserver;

beforeEach(() => {
  awayMs = 0;
  let firstMs: number | undefined;
  [reserved, roomBytes, questions, settled, isForgotten] = [0, 1_000 * mebibyte, 0, undefined, false];
  const files: Pick<RemoteFiles, 'openRoom'> = {
    async openRoom(ended) {
      firstMs ??= performance.now();
      if (performance.now() < firstMs + awayMs) throw new MountError('EIO');
      isForgotten = false;
      forget = () => {
        [isForgotten, reserved] = [true, 0];
        ended();
      };
      return {
        async set({ path, bytes, wished, journaled }) {
          reserved -= journaled;
          questions++;
          expect([bytes, wished].every(Number.isInteger)).toBe(true);
          if (isForgotten) throw new MountError('ENOENT');
          reserved = Math.min(reserved, Math.max(bytes, wished));
          if (path !== undefined && bytes > roomBytes) throw new MountError('ENOSPC');
          if (path !== undefined && bytes > reserved) reserved = wished <= roomBytes ? wished : bytes;
          return reserved;
        },
        published: () => new Promise((resolve) => (settled = resolve)),
        end: () => {
          reserved = 0;
        },
      };
    },
  };
  reserver = new RoomReserver(files);
});
afterEach(() => reserver.end());

test('[OD23] room is reserved as drafts grow, in steps, and is given back', async () => {
  for (let size = 4_096; size <= 256 * mebibyte; size += 4_096) await reserver.take('film', 4_096);
  expect(reserved).toBeGreaterThanOrEqual(256 * mebibyte);
  expect(reserved).toBeLessThanOrEqual(350 * mebibyte);
  expect(questions).toBeLessThan(50);
  reserver.giveBack(255 * mebibyte);
  await eventually(() => expect(reserved).toBe(mebibyte));
  reserver.giveBack(mebibyte);
  await eventually(() => expect(reserved).toBe(0));
});

test('[OD23] up to the last byte of the room is taken, and what does not fit is refused', async () => {
  roomBytes = 100_000;
  await reserver.take('a', 99_000);
  await reserver.take('a', 1_000);
  await expect((async () => reserver.take('a', 1))()).rejects.toMatchObject({ code: 'ENOSPC' });
  reserver.giveBack(1_000);
  await reserver.take('b', 500);
  expect(reserved).toBeLessThanOrEqual(100_000);
});

test('[OD23] a published draft keeps its room until the agent has journaled it, and a writer waits for that', async () => {
  roomBytes = mebibyte;
  await reserver.take('a', mebibyte);
  reserver.published({ path: 'a', inode: 1, bytes: mebibyte });
  let isTaken = false;
  const taking = (async () => {
    await reserver.take('b', mebibyte);
    isTaken = true;
  })();
  await eventually(() => expect(questions).toBe(2));
  expect([isTaken, reserved]).toEqual([false, mebibyte]);
  settled?.();
  await taking;
  expect(reserved).toBe(mebibyte);
});

test('[OD23] an agent that starts again reserves the room of the drafts that are open', async () => {
  await reserver.take('a', mebibyte);
  forget();
  await eventually(() => expect(reserved).toBe(mebibyte));
  forget();
  await reserver.take('a', 1);
  expect(reserved).toBeGreaterThanOrEqual(mebibyte + 1);
});

test('[OD23] a write waits for an agent that starts again', async () => {
  awayMs = 500;
  await reserver.take('a', mebibyte);
  expect(reserved).toBeGreaterThanOrEqual(mebibyte);
});

test('[OD23] a draft has room for its size: also for what it was copied from, and less after it was truncated', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-reserved-draft-'));
  try {
    const staging = { folder, member: 'ant', newPath: () => join(folder, 'draft'), nowMs: () => 0 };
    const access = new FolderAccess(folder, staging);
    roomBytes = mebibyte;
    const parts = { reserver, path: 'a', bytes: 0 };
    const draft = await ReservedDraft.make(() => access.draft('a', undefined, 0o644), parts);
    await draft.write(Buffer.from('1234'), mebibyte - 4);
    await expect((async () => draft.truncate(2 * mebibyte))()).rejects.toMatchObject({ code: 'ENOSPC' });
    await expect((async () => draft.write(Buffer.from('5'), mebibyte))()).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(draft.stat().size).toBe(mebibyte);
    const copy = { reserver, path: 'b', bytes: mebibyte };
    const copying = async (beforeCopy: () => unknown): Promise<Draft> => {
      await beforeCopy();
      return access.draft('b', undefined, 0o644);
    };
    await expect(ReservedDraft.make(copying, copy)).rejects.toThrow('ENOSPC');
    await draft.truncate(100);
    await draft.write(Buffer.from('1234'), 200);
    draft.drop();
    await eventually(() => expect(reserved).toBe(0));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('[OD25] a draft that shares the blocks of the old version has room for what it does not share any more', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-reserved-draft-'));
  try {
    const staging = { folder, member: 'ant', newPath: () => join(folder, 'draft'), nowMs: () => 0 };
    const access = new FolderAccess(folder, staging);
    const spare = mebibyte;
    roomBytes = 10 * mebibyte;
    // As on a file system that shares blocks: no bytes are copied.
    const make = async (): Promise<Draft> => {
      const draft = await access.draft('a', undefined, 0o644);
      await draft.truncate(100 * mebibyte);
      return draft;
    };
    const draft = await ReservedDraft.make(make, { reserver, path: 'a', bytes: 100 * mebibyte });
    expect(reserved).toBe(0);
    await draft.write(Buffer.alloc(4_096), 50 * mebibyte);
    expect(reserved).toBeLessThanOrEqual(131_072 + spare);
    for (let index = 0; index < 1_000; index++) await draft.write(Buffer.alloc(4_096), 50 * mebibyte);
    expect(reserved).toBeLessThanOrEqual(131_072 + spare);
    await expect((async () => draft.write(Buffer.alloc(10 * mebibyte), 0))()).rejects.toMatchObject({ code: 'ENOSPC' });
    await draft.write(Buffer.alloc(4_096), 100 * mebibyte);
    draft.drop();
    await eventually(() => expect(reserved).toBe(0));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
