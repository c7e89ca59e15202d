import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Cluster } from '../../testkit/cluster.ts';
import type { Member } from '../../testkit/member.ts';
import { Mount } from '../../testkit/mount.ts';
import { median, type Result } from '../result.ts';
import { until } from '../until.ts';

const sizes = [
  ['4 KiB', 4_096],
  ['64 KiB', 65_536],
] as const;
const files = 100;
const rounds = 5;
/** The time between two opens: of a program that only reads, and of one that does something with each file. */
const pausesMs = [0, 20];
/** 100 Mbit/s and a round trip of 10 ms. */
const line = { bytesPerSecond: 12_500_000, delayMs: 5 };
/** The gain from prefetching in the source: 87 % of the time of a first open. */
const saved = 0.87;

const nameOf = (index: number): string => String(index).padStart(3, '0');

interface Opens {
  readonly size: string;
  readonly bytes: number;
  readonly pauseMs: number;
}

const all: readonly Opens[] = sizes.flatMap(([size, bytes]) => pausesMs.map((pauseMs) => ({ size, bytes, pauseMs })));

const directoryOf = ({ size, pauseMs }: Opens, round: number): string => `${size} ${pauseMs} ${round}`;

/** Milliseconds that a program waits on average that opens the files of a directory one after the other, and reads each to its end. */
async function readAll(mount: Mount, opens: Opens, round: number): Promise<number> {
  let waitedMs = 0;
  for (let index = 0; index < files; index++) {
    const startMs = performance.now();
    const content = await readFile(mount.path(directoryOf(opens, round), nameOf(index)));
    waitedMs += performance.now() - startMs;
    if (content.length !== opens.bytes) throw new Error(`a file has ${content.length} bytes, not ${opens.bytes}`);
    if (opens.pauseMs > 0) await pause(opens.pauseMs);
  }
  return waitedMs / files;
}

/** Adds a member on demand, which is not started. */
function addOnDemand(cluster: Cluster, name: string, prefetch: boolean): Promise<Member> {
  const env = {
    LOCKSTEP_CONTENT: 'on-demand',
    LOCKSTEP_CACHE_SIZE: '2 GiB',
    LOCKSTEP_PREFETCH: String(prefetch),
  };
  return cluster.add(name, { start: { env }, up: false });
}

/**
 * The AFS-like paper: first opens of the files of one directory, through the mount of a member on demand, over a line with a latency; with
 * prefetching, and without it.
 */
export async function firstOpens(root: string, scratch: string): Promise<Result[]> {
  const cluster = await Cluster.start(['ant'], { directory: root, proxied: true });
  const mounts: Mount[] = [];
  try {
    const ant = cluster.member('ant');
    for (const opens of all) {
      for (let round = 0; round < rounds; round++) {
        const directory = ant.path(directoryOf(opens, round));
        await mkdir(directory);
        for (let index = 0; index < files; index++) {
          await writeFile(join(directory, nameOf(index)), randomBytes(opens.bytes));
        }
      }
    }
    const total = all.length * rounds * files;
    await until([ant], (status) => status.files === total && status.synchronised);
    const members = [await addOnDemand(cluster, 'bee', true), await addOnDemand(cluster, 'cat', false)];
    // Neither fetches from the other what that one has.
    cluster.link('bee', 'cat', 'cut');
    cluster.shapes('ant', line);
    for (const member of members) await member.start();
    await until(members, (status) => status.cache?.remoteFiles === total && status.pending === 0);
    for (const member of members) mounts.push(await Mount.open(member, join(scratch, member.name)));
    const results: Result[] = [];
    for (const opens of all) {
      const times: [number[], number[]] = [[], []];
      for (let round = 0; round < rounds; round++) {
        const inTurn = [...mounts.entries()];
        for (const [index, mount] of round % 2 === 0 ? inTurn : inTurn.toReversed()) {
          times[index === 0 ? 0 : 1].push(await readAll(mount, opens, round));
        }
      }
      const [withIt, without] = times.map(median) as [number, number];
      results.push({
        name: `first open of a file of ${opens.size}, of ${files} in its directory, ${opens.pauseMs} ms after another`,
        unit: 'ms',
        lockstep: times[0],
        target: { atMost: (1 - saved) * without },
        goal: { atMost: (1 - saved) * without },
        note: `without prefetching ${without.toFixed(2)} ms: ${(100 * (1 - withIt / without)).toFixed(0)} % faster; theirs 87 %`,
      });
    }
    return results;
  } finally {
    for (const mount of mounts) await mount.close();
    await cluster.close();
  }
}
