import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type ProgramName, percentile, type Result } from '../result.ts';
import { timed } from '../tree.ts';
import type { Place } from './bulk.ts';

const files = 100;
/** Of programs that take seconds. */
const filesOfOthers = 20;
const spacingMs = 200;

/** The milliseconds from the start of the write of a 1 KiB file until the file is visible in both targets. */
async function visibleMs(name: string, bytes: Buffer, source: string, targets: readonly string[]): Promise<number> {
  const startMs = performance.now();
  await writeFile(join(source, name), bytes);
  while (!targets.every((target) => existsSync(join(target, name)))) await pause(1);
  return performance.now() - startMs;
}

/** How long a new file of 1 KiB takes until both peers show it. */
export async function latency({ members: [ant, bee, cat], others, scratch }: Place): Promise<Result[]> {
  const bytes = Buffer.alloc(1_024, 'x');
  const times = new Map<ProgramName, number[]>();
  const note = (program: ProgramName, ms: number): void => void times.set(program, [...(times.get(program) ?? []), ms]);
  const targets = [join(scratch, 'one'), join(scratch, 'two')];
  for (const target of targets) await mkdir(target, { recursive: true });
  for (let index = 0; index < files; index++) {
    const name = `latency-${index}`;
    bytes.write(String(index));
    note('lockstep', await visibleMs(name, bytes, ant.folder, [bee.folder, cat.folder]));
    for (const program of ['cp', 'rsync'] as const) {
      let sumMs = 0;
      for (const target of targets) {
        sumMs += await timed(program, '-a', join(ant.folder, name), join(target, `${program}-${name}`));
      }
      note(program, sumMs);
    }
    if (index < filesOfOthers) {
      for (const other of others) note(other.name, await visibleMs(name, bytes, other.source, other.targets));
    }
    await pause(spacingMs);
  }
  return [0.5, 0.99].map((share) => ({
    name: `1 KiB file, visible on both peers, p${share * 100}`,
    unit: 'ms',
    lockstep: [],
    ...Object.fromEntries([...times].map(([program, values]) => [program, [percentile(values, share)]])),
    target: { atMost: share === 0.5 ? 7 : 20 },
    goal: { atMost: share === 0.5 ? 5 : 15 },
    note: `${files} files, ${spacingMs} ms apart; ${filesOfOthers} for lsyncd, Syncthing and GlusterFS`,
  }));
}
