import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blockBytes } from '@lockstep/shared';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nodeSystemCalls } from '../node-system-calls.ts';
import type { SystemCalls } from '../system-calls.ts';
import { blockHash } from './content-id.ts';
import { readContent, withFile } from './read-content.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-read-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

test('[LC5] the read of a file that grows ends soon after it grew, not at its end', () => {
  const path = join(directory, 'file');
  const blocks = 64;
  writeFileSync(path, '');
  truncateSync(path, blocks * blockBytes);
  let reads = 0;
  const disk = nodeSystemCalls();
  const system: SystemCalls = {
    ...disk,
    read: (fd, target, offset, length, position) => {
      reads += 1;
      if (reads === 10) truncateSync(path, blocks * blockBytes + 1);
      return disk.read(fd, target, offset, length, position);
    },
  };
  const read = () =>
    withFile(system, path, (fd) => {
      const before = system.fstat(fd);
      return readContent({ system, hash: blockHash }, fd, before.size, 0, before);
    });
  expect(read()).toBeUndefined();
  expect(reads).toBeLessThan(16);
  expect(read()?.size).toBe(blocks * blockBytes + 1);
});
