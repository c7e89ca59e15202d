import { readFileSync, readlinkSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { writeDurably, writeNewDurably } from './durable-file.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-durable-'));
});

afterEach(() => rm(directory, { recursive: true }));

/** Notes the calls to the disk from now on, in order: the file of each, and what `path` holds at that time. */
async function callsSeenAt(path: string): Promise<readonly string[]> {
  const calls: string[] = [];
  const file = await open(path, 'r');
  const methods: FileHandle = Object.getPrototypeOf(file);
  await file.close();
  for (const name of ['writeFile', 'sync'] as const) {
    const call = methods[name] as (...args: unknown[]) => Promise<void>;
    const seen = vi.spyOn(methods, name).mockImplementation(function (this: FileHandle, ...args: unknown[]) {
      calls.push(`${name} ${basename(readlinkSync(`/proc/self/fd/${this.fd}`))}: ${readFileSync(path, 'utf8')}`);
      return call.apply(this, args);
    });
    onTestFinished(() => seen.mockRestore());
  }
  return calls;
}

test('[ST5] the bytes are durable before the name, and the name before the call returns', async () => {
  const path = join(directory, 'file');
  await writeFile(path, 'old');
  const calls = await callsSeenAt(path);
  await writeDurably(path, 'new');
  expect(calls).toEqual(['writeFile file.new: old', 'sync file.new: old', `sync ${basename(directory)}: new`]);
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
