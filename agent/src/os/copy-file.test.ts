import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { copyFileAsync, copyFileSync, type OpenFile } from './copy-file.ts';

/** The kernel says that this file has 4,096 bytes, and gives fewer: like a file that becomes shorter while it is copied. */
const shorter = '/sys/kernel/uevent_seqnum';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-copy-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe.each([
  ['copyFileSync', async (file: OpenFile, to: string) => copyFileSync(file, to)],
  ['copyFileAsync', copyFileAsync],
])('%s', (_name, copy) => {
  async function copyOf(path: string): Promise<string> {
    const to = join(directory, 'copy');
    const fd = openSync(path, 'r');
    try {
      await copy({ fd, path }, to);
    } finally {
      closeSync(fd);
    }
    return to;
  }

  test.each([0, 10, 1_048_576, 2_500_000])('copies a file of %d bytes, with its mode', async (size) => {
    const path = join(directory, 'file');
    const bytes = Buffer.alloc(size, 'some bytes');
    writeFileSync(path, bytes, { mode: 0o750 });
    const to = await copyOf(path);
    expect(readFileSync(to).equals(bytes)).toBe(true);
    expect(statSync(to).mode & 0o7777).toBe(0o750);
  });

  test.skipIf(!existsSync(shorter))('ends if the file becomes shorter meanwhile', async () => {
    expect(statSync(shorter).size).toBeGreaterThan(readFileSync(shorter).length);
    expect(readFileSync(await copyOf(shorter))).toEqual(readFileSync(shorter));
  });

  test('replaces no file', async () => {
    const to = join(directory, 'copy');
    writeFileSync(to, 'kept');
    await expect(copyOf('/proc/self/stat')).rejects.toThrow('EEXIST');
    expect(readFileSync(to, 'utf8')).toBe('kept');
  });

  test('leaves nothing of a copy that fails', async () => {
    await expect(copyOf(directory)).rejects.toThrow('EISDIR');
    expect(existsSync(join(directory, 'copy'))).toBe(false);
  });
});
