import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Cluster } from '../../testkit/cluster.ts';
import type { Member } from '../../testkit/member.ts';
import type { Result } from '../result.ts';
import { flush, makeLargeFile, remove, timed } from '../tree.ts';
import { until } from '../until.ts';
import { assertSame } from './through.ts';

const mebibytes = 128;
const mebibytesPerSecond = 20;
/** The slow one of three holders. */
const slowLink = { bytesPerSecond: 2_000_000, delayMs: 50 };

const isLevel = (files: number) => (status: { files: number; pending: number; synchronised: boolean }) =>
  status.files >= files && status.pending === 0 && status.synchronised;

/** The time until four members have a new file of an origin whose line is limited. */
async function fromSlowOrigin(directory: string, scratch: string, repetitions: number): Promise<Result> {
  const cluster = await Cluster.start(['ant', 'bee', 'cat', 'dog', 'eel'], { directory });
  try {
    const [ant] = cluster.members as [Member];
    await ant.stop();
    await appendFile(ant.state('config.toml'), `\nsend_limit = "${mebibytesPerSecond} MiB/s"\n`);
    await ant.start();
    await cluster.connected();
    const lockstep: number[] = [];
    for (let round = 0; round < repetitions; round++) {
      const file = join(scratch, 'film');
      await makeLargeFile(file, mebibytes);
      await flush();
      const startMs = performance.now();
      await timed('cp', file, join(ant.folder, `film ${round}`));
      await until(cluster.members, isLevel(round + 1));
      lockstep.push(performance.now() - startMs);
    }
    await assertSame(cluster.members);
    const sentBytes = await ant.metric('lockstep_peer_sent_bytes_total');
    const copies = sentBytes / (repetitions * mebibytes * 1_048_576);
    const copyMs = (mebibytes / mebibytesPerSecond) * 1_000;
    return {
      name: `file of ${mebibytes} MiB from a line of ${mebibytesPerSecond} MiB/s to 4 members`,
      unit: 'ms',
      lockstep,
      target: { atMost: 1.6 * copyMs },
      goal: { atMost: 1.2 * copyMs },
      note: `one copy takes ${copyMs} ms; ${copies.toFixed(2)} copies left the origin`,
    };
  } finally {
    await cluster.close();
  }
}

/** The times of newcomers with three holders of a large file, of which one is slow, next to those without the slow one. */
async function besideSlowHolder(directory: string, repetitions: number): Promise<Result> {
  const cluster = await Cluster.start(['ant', 'bee', 'cat'], { directory, proxied: true });
  try {
    const [ant, , cat] = cluster.members as [Member, Member, Member];
    await makeLargeFile(join(ant.folder, 'film'), 2 * mebibytes);
    await until(cluster.members, isLevel(1));
    const times = { with: [] as number[], without: [] as number[] };
    for (let round = 0; round < 2 * repetitions; round++) {
      const isWith = round % 2 === 1;
      if (isWith) await cat.start();
      else await cat.stop();
      const newcomer = await cluster.add(`dog${round}`, { up: false });
      cluster.shapes('cat', slowLink);
      await flush();
      const startMs = performance.now();
      await newcomer.start();
      await until([newcomer], isLevel(1));
      times[isWith ? 'with' : 'without'].push(performance.now() - startMs);
      await assertSame([newcomer, ant]);
      await newcomer.stop();
      await remove(newcomer.folder);
    }
    const withoutMs = times.without.toSorted((a, b) => a - b)[Math.floor(times.without.length / 2)] ?? 0;
    return {
      name: `newcomer with a file of ${2 * mebibytes} MiB and a slow third holder`,
      unit: 'ms',
      lockstep: times.with,
      target: { atMost: 1.15 * withoutMs },
      goal: { atMost: withoutMs },
      note: `without the slow one: ${withoutMs.toFixed(0)} ms`,
    };
  } finally {
    await cluster.close();
  }
}

/** Large files from several members at once. */
export async function severalSources(directory: string, scratch: string, repetitions: number): Promise<Result[]> {
  return [await fromSlowOrigin(directory, scratch, repetitions), await besideSlowHolder(directory, repetitions)];
}
