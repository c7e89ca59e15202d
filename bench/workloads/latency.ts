import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type ProgramName, percentile, type Result } from '../result.ts';
import { flush, makeLargeFile, timed, useMemory } from '../tree.ts';
import { until } from '../until.ts';
import type { Place } from './bulk.ts';

const files = 100;
/** Of programs that take seconds. */
const filesOfOthers = 20;
const spacingMs = 200;
/** While a file of 1 GiB is moved. */
const spacingBesideMs = 50;
const memoryMiB = 3_200;

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

/**
 * The times that new files of 1 KiB take from `ant` to both peers. It measures from the start of a copy of 1 GiB into its folder until both
 * peers have that.
 */
export async function besideLarge({
  members: [ant, bee, cat],
  scratch,
  repetitions,
}: Pick<Place, 'members' | 'scratch' | 'repetitions'>): Promise<Result[]> {
  const bytes = Buffer.alloc(1_024, 'x');
  const peers = [bee.folder, cat.folder];
  const film = join(scratch, 'film');
  await makeLargeFile(film, 1_024);
  const times: number[] = [];
  for (let round = 0; round < repetitions; round++) {
    await useMemory(scratch, memoryMiB);
    await flush();
    const name = `film ${round}`;
    const copied = timed('cp', film, join(ant.folder, name));
    const isMoving = () => !peers.every((peer) => existsSync(join(peer, name)));
    for (let index = 0; isMoving(); index++) {
      bytes.write(`${round} ${index}`);
      times.push(await visibleMs(`beside-${round}-${index}`, bytes, ant.folder, peers));
      await pause(spacingBesideMs);
    }
    await copied;
    await until([ant, bee, cat], ({ pending, synchronised }) => pending === 0 && synchronised);
  }
  return [0.5, 0.99].map((share) => ({
    name: `1 KiB file while 1 GiB is moved, p${share * 100}`,
    unit: 'ms',
    lockstep: [percentile(times, share)],
    target: { atMost: 100 },
    goal: { atMost: 50 },
    note: `${times.length} files, each ${spacingBesideMs} ms after the one before was visible on both peers`,
  }));
}
