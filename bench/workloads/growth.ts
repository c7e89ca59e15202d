import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Cluster } from '../../testkit/cluster.ts';
import type { Member } from '../../testkit/member.ts';
import type { Point } from '../growth-chart.ts';
import { metered } from '../spent.ts';
import { flush, makeSmallFiles } from '../tree.ts';
import { until } from '../until.ts';
import { assertSame, processorMsOf } from './through.ts';

const fileCounts = [1_000, 10_000, 100_000, 500_000];
const memberCounts = [2, 4, 8, 16, 32];
const filesForMembers = 1_000;
/** New files may still change unseen for half a minute, and are polled. */
const settleMs = 60_000;
const idleMs = 30_000;

/** How time, processor time and memory grow with the files, on three members. */
export async function growthByFiles(directory: string): Promise<Point[]> {
  const points: Point[] = [];
  for (const count of fileCounts) {
    const cluster = await Cluster.start(['ant', 'bee', 'cat'], { directory });
    try {
      points.push(noted({ by: 'files', count, ...(await arrival(cluster.members, count)) }));
      await assertSame(cluster.members);
    } finally {
      await cluster.close();
    }
  }
  return points;
}

/** How they grow with the members, with a thousand files; and the processor time of each member at rest. */
export async function growthByMembers(directory: string): Promise<Point[]> {
  const points: Point[] = [];
  for (const count of memberCounts) {
    const names = Array.from({ length: count }, (_, index) => `m${index}`);
    const cluster = await Cluster.start(names, { directory });
    try {
      const { members } = cluster;
      const arrived = await arrival(members, filesForMembers);
      await pause(settleMs);
      const beforeMs = await processorMsOf(members);
      await pause(idleMs);
      const idleShare = (100 * ((await processorMsOf(members)) - beforeMs)) / idleMs / count;
      points.push(noted({ by: 'members', count, ...arrived, idleShare }));
      await assertSame(members);
    } finally {
      await cluster.close();
    }
  }
  return points;
}

/** Says at once what was measured: the next point may take minutes. */
function noted(point: Point): Point {
  process.stderr.write(`  ${JSON.stringify(point)}\n`);
  return point;
}

/** The time and traffic until all members have new files of 1 KiB, and the memory of an agent then. */
async function arrival(members: readonly Member[], files: number) {
  const [ant] = members as readonly [Member];
  await flush();
  const {
    ms,
    processorMs,
    wireBytes = 0,
  } = await metered(
    () => processorMsOf(members),
    async () => {
      await makeSmallFiles(join(ant.folder, 'tree'), files, 1_024);
      await until(members, (status) => status.files >= files && status.pending === 0 && status.synchronised);
    },
  );
  const memory = await Promise.all(members.map((member) => member.usage()));
  const memoryMiB = memory.reduce((sum, usage) => sum + usage.memoryMiB, 0) / members.length;
  return { seconds: ms / 1_000, processorS: processorMs / 1_000, wireMiB: wireBytes / 1_048_576, memoryMiB };
}
