import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readRegularFile } from './regular-file.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-regular-'));
});

afterEach(() => rm(directory, { recursive: true }));

test('a file is read, also through a link', async () => {
  await writeFile(join(directory, 'file'), 'text');
  await symlink('file', join(directory, 'link'));
  expect(await readRegularFile(join(directory, 'file'))).toBe('text');
  expect(await readRegularFile(join(directory, 'link'))).toBe('text');
});

test('anything else is refused at once', async () => {
  const [fifo, socket] = [join(directory, 'fifo'), join(directory, 'socket')];
  execFileSync('mkfifo', [fifo]);
  const server = createServer();
  await new Promise<void>((listening) => server.listen(socket, listening));
  for (const path of [fifo, socket, '/dev/zero'])
    await expect(readRegularFile(path), path).rejects.toMatchObject({ code: 'ENXIO' });
  await expect(readRegularFile(directory)).rejects.toMatchObject({ code: 'EISDIR' });
  await expect(readRegularFile(join(directory, 'absent'))).rejects.toMatchObject({ code: 'ENOENT' });
  await new Promise((closed) => server.close(closed));
});
