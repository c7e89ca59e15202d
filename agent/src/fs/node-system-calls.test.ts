import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { nodeSystemCalls } from './node-system-calls.ts';

/** Makes a directory the only one in which programs are found. */
function onlyProgramsIn(): string {
  const directory = mkdtempSync(join(tmpdir(), 'lockstep-programs-'));
  vi.stubEnv('PATH', directory);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(directory, { recursive: true });
  });
  return directory;
}

test('[WT20] the number of a file system is the same each time', () => {
  const id = nodeSystemCalls().fileSystemId(tmpdir());
  expect(id).toMatch(/^[0-9a-f]+$/);
  expect(nodeSystemCalls().fileSystemId(tmpdir())).toBe(id);
});

test('[WT20] a machine without stat(1) has no numbers of file systems', () => {
  onlyProgramsIn();
  expect(nodeSystemCalls().fileSystemId(tmpdir())).toBeUndefined();
});

test.each(['echo overloaded >&2; exit 1', 'true'])(
  '[WT20] a number that stat(1) does not say is an error, not a file system without one: %s',
  (script) => {
    const program = join(onlyProgramsIn(), 'stat');
    writeFileSync(program, `#!/bin/sh\n${script}\n`);
    chmodSync(program, 0o755);
    expect(() => nodeSystemCalls().fileSystemId(tmpdir())).toThrow(/^stat\(1\) did not say which file system is at/);
  },
);
