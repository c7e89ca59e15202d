import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Member } from '../../testkit/member.ts';
import { percentile, type Result } from '../result.ts';
import { timed } from '../tree.ts';

const files = 100;
const spacingMs = 200;

async function untilVisible(paths: readonly string[]): Promise<void> {
  while (!paths.every((path) => existsSync(path))) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** The milliseconds from the start of the write of a 1 KiB file until the file is visible on both peers. */
export async function latency([ant, bee, cat]: readonly [Member, Member, Member], scratch: string): Promise<Result[]> {
  const bytes = Buffer.alloc(1024, 'x');
  const lockstep: number[] = [];
  const cp: number[] = [];
  const rsync: number[] = [];
  const targets = [join(scratch, 'one'), join(scratch, 'two')];
  for (const target of targets) await mkdir(target, { recursive: true });
  for (let index = 0; index < files; index++) {
    const name = `latency-${index}`;
    bytes.write(String(index));
    const startMs = performance.now();
    await writeFile(join(ant.folder, name), bytes);
    await untilVisible([join(bee.folder, name), join(cat.folder, name)]);
    lockstep.push(performance.now() - startMs);
    for (const [program, times] of [
      ['cp', cp],
      ['rsync', rsync],
    ] as const) {
      let sumMs = 0;
      for (const target of targets) {
        sumMs += await timed(program, '-a', join(ant.folder, name), join(target, `${program}-${name}`));
      }
      times.push(sumMs);
    }
    await new Promise((resolve) => setTimeout(resolve, spacingMs));
  }
  return [0.5, 0.99].map((share) => ({
    name: `1 KiB file, visible on both peers, p${share * 100}`,
    unit: 'ms',
    lockstep: [percentile(lockstep, share)],
    cp: [percentile(cp, share)],
    rsync: [percentile(rsync, share)],
    target: { atMost: share === 0.5 ? 40 : 150 },
    goal: { atMost: share === 0.5 ? 10 : 40 },
    note: `${files} files, ${spacingMs} ms apart`,
  }));
}
