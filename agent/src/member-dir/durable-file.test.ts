import type { FileHandle } from 'node:fs/promises';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { writeDurably, writeNewDurably } from './durable-file.ts';

/** The calls to the disk, in order. */
const calls: string[] = [];

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs/promises')>();
  const watched = (handle: FileHandle, path: string): FileHandle => {
    for (const name of ['writeFile', 'sync'] as const) {
      const call = handle[name].bind(handle) as (...args: unknown[]) => Promise<void>;
      Object.assign(handle, {
        [name]: (...args: unknown[]) => {
          calls.push(`${name} ${basename(path)}`);
          return call(...args);
        },
      });
    }
    return handle;
  };
  return {
    ...real,
    open: async (...args: Parameters<typeof real.open>) => watched(await real.open(...args), String(args[0])),
    rename: (from: string, to: string) => {
      calls.push(`rename ${basename(from)} ${basename(to)}`);
      return real.rename(from, to);
    },
  };
});

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-durable-'));
  calls.length = 0;
});

afterEach(() => rm(directory, { recursive: true }));

test('[ST5] the bytes are durable before the name, and the name before the call returns', async () => {
  const path = join(directory, 'file');
  await writeFile(path, 'old');
  await writeDurably(path, 'new');
  expect(calls).toEqual(['writeFile file.new', 'sync file.new', 'rename file.new file', `sync ${basename(directory)}`]);
  expect(await readFile(path, 'utf8')).toBe('new');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('a failed write leaves the old file and no draft', async () => {
  await writeFile(join(directory, 'taken.new'), 'a draft that a kill left behind');
  await expect(writeDurably(join(directory, 'taken', 'file'), 'new')).rejects.toMatchObject({ code: 'ENOENT' });
  await writeDurably(join(directory, 'taken'), 'new');
  expect(await readdir(directory)).toEqual(['taken']);
});

test('a new file replaces none', async () => {
  const path = join(directory, 'file');
  await writeNewDurably(path, 'first', 0o644);
  expect((await stat(path)).mode & 0o777).toBe(0o644);
  await expect(writeNewDurably(path, 'second')).rejects.toMatchObject({ code: 'EEXIST' });
  expect(await readFile(path, 'utf8')).toBe('first');
});
