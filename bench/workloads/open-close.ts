import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { median, type Result } from '../result.ts';
import { useMemory } from '../tree.ts';
import { until } from '../until.ts';
import { assertSame, type Trio } from './through.ts';

const sizes = [
  ['4 KiB', 4_096],
  ['1 MiB', 1_048_576],
  ['16 MiB', 16_777_216],
  ['128 MiB', 134_217_728],
] as const;
const rounds = 15;
const bytesPerWrite = 1_048_576;

interface Times {
  readonly write: number[];
  readonly close: number[];
}

/**
 * Writes a new file, and notes how long it took to open and write it, and how long to close it. By synchronous calls, as `cp` and most
 * programs do: otherwise most of the time of a small file is that of threads that wake each other.
 */
function writeOne(path: string, bytes: number, times: Times): void {
  const content = randomBytes(Math.min(bytes, bytesPerWrite));
  let startMs = performance.now();
  const file = openSync(path, 'wx');
  for (let written = 0; written < bytes; written += content.length) writeSync(file, content);
  times.write.push(performance.now() - startMs);
  startMs = performance.now();
  closeSync(file);
  times.close.push(performance.now() - startMs);
}

/** The table of the AFS-like paper: what a program waits that writes a file and closes it, next to a plain folder of the same disk. */
export async function openClose(members: Trio, scratch: string): Promise<Result[]> {
  const [ant] = members;
  const plain = join(scratch, 'plain');
  await mkdir(plain);
  const results: Result[] = [];
  for (const [name, bytes] of sizes) {
    const here: Times = { write: [], close: [] };
    const there: Times = { write: [], close: [] };
    for (let round = 0; round < rounds; round++) {
      const places = [
        [join(plain, 'file'), there],
        [ant.path('file'), here],
      ] as const;
      // In turn, while nothing of the last round is on its way or has still to be written to the disk.
      for (const [path, times] of round % 2 === 0 ? places : places.toReversed()) {
        await useMemory(scratch, Math.ceil(bytes / 1_048_576));
        writeOne(path, bytes, times);
      }
      await until([ant], (status) => status.files === 1 && status.synchronised);
      await assertSame(members);
      for (const [path] of places) await rm(path);
      await until([ant], (status) => status.files === 0 && status.synchronised);
    }
    for (const kind of ['write', 'close'] as const) {
      const plainMs = median(there[kind]);
      results.push({
        name: `${name}: ${kind === 'write' ? 'open and write' : 'close'}`,
        unit: 'ms',
        lockstep: here[kind],
        target: { atMost: 1.1 * plainMs },
        goal: { atMost: 1.05 * plainMs },
        note: `in a plain folder: ${plainMs.toFixed(2)} ms`,
      });
    }
  }
  return results;
}
