import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { copiesReportSchema } from '@lockstep/shared/api';
import { Cluster } from '../../testkit/cluster.ts';
import { eventually } from '../../testkit/eventually.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { Mount } from '../../testkit/mount.ts';
import { median, type Result } from '../result.ts';
import { useMemory } from '../tree.ts';
import { until } from '../until.ts';
import { fio, hasFio, studySizes } from './fio.ts';
import { assertSame } from './through.ts';

const counts = [1, 2, 3] as const;
/** The room of the writer, and that of the others: a copy goes to the member with the most room first, nearly always. */
const caches = { ant: '64 GiB', bee: '4 GiB', cat: '4 GiB' };

const onDemand = (cache: string) => ({
  LOCKSTEP_CONTENT: 'on-demand',
  LOCKSTEP_CACHE_SIZE: cache,
  LOCKSTEP_PREFETCH: 'false',
});

/** Sets the number of copies of all files. Resolves when all members know it. */
async function keep(members: readonly Member[], copies: number): Promise<void> {
  const [ant] = members as readonly [Member];
  const { code, err } = await lockstep(['copies', String(copies), '--dir', ant.folder]);
  if (code !== 0) throw new Error(err);
  for (const member of members) {
    await eventually(async () => {
      const { rules } = copiesReportSchema.parse(await member.get('/copies'));
      if (rules[0]?.copies !== copies) throw new Error(`${member.name} does not know the rule`);
    });
  }
}

/** The members that have all of the file that fio wrote. While fio lays it out, an empty one may be published. */
async function holders(members: readonly Member[], bytes: number): Promise<readonly Member[]> {
  const sizes = await Promise.all(
    members.map((it) =>
      stat(it.path('fio')).then(
        ({ size }) => size,
        () => undefined,
      ),
    ),
  );
  return members.filter((_, index) => sizes[index] === bytes);
}

/** Resolves when so many members have the file, and no member lacks a copy. */
async function untilKept(members: readonly Member[], copies: number, bytes: number): Promise<void> {
  await eventually(
    async () => {
      if ((await holders(members, bytes)).length < copies) throw new Error(`not all ${copies} copies are there`);
      for (const member of members) {
        const report = copiesReportSchema.parse(await member.get('/copies'));
        if (report.members.some(({ lacking }) => lacking !== undefined)) throw new Error('a member lacks copies');
      }
    },
    { timeoutMs: 300_000, intervalMs: 20 },
  );
}

/**
 * The GlusterFS study with copies: fio writes through the mount of a member on demand, and waits until its file is published and durable
 * there. The file is kept on 1, 2 and 3 members. The numbers of copies take turns. Nothing if fio is not installed.
 */
export async function copiesThroughMount(root: string, scratch: string): Promise<Result[]> {
  if (!(await hasFio())) return [];
  const cluster = await Cluster.start([], { directory: root });
  let mount: Mount | undefined;
  try {
    for (const [name, cache] of Object.entries(caches)) await cluster.add(name, { start: { env: onDemand(cache) } });
    await cluster.connected();
    const { members } = cluster;
    mount = await Mount.open(cluster.member('ant'), join(scratch, 'mount'));
    const results: Result[] = [];
    for (const { name, mebibytes, rounds, write: theirs } of studySizes) {
      const writes = counts.map((): number[] => []);
      const arrivals = counts.map((): number[] => []);
      for (let round = 0; round < rounds; round++) {
        for (const [index, copies] of counts.entries()) {
          await keep(members, copies);
          await useMemory(scratch, Math.ceil(1.1 * mebibytes));
          const startMs = performance.now();
          writes[index]?.push(await fio({ directory: mount.point, kind: 'write', mebibytes, more: ['--end_fsync=1'] }));
          const { size: bytes } = await stat(mount.path('fio'));
          await untilKept(members, copies, bytes);
          arrivals[index]?.push(performance.now() - startMs);
          await assertSame(await holders(members, bytes));
          await rm(mount.path('fio'));
          await until(members, ({ files, pending }) => files === 0 && pending === 0);
        }
      }
      const ofOneMs = median(writes[0] ?? []);
      for (const [index, copies] of counts.entries()) {
        const times = writes[index] ?? [];
        const ratio = (median(times) / ofOneMs).toFixed(2);
        const theirRatio = ((theirs[index] ?? 0) / theirs[0]).toFixed(2);
        const arrivedS = (median(arrivals[index] ?? []) / 1_000).toFixed(2);
        results.push({
          name: `fio, ${name} written in 4 KiB through the mount, ${copies} ${copies === 1 ? 'copy' : 'copies'}`,
          unit: 'ms',
          lockstep: times,
          target: { atMost: copies === 1 ? theirs[0] : 1.1 * ofOneMs },
          goal: { atMost: copies === 1 ? theirs[0] : 1.1 * ofOneMs },
          note: `${ratio} × one copy, GlusterFS ${theirRatio} × (${theirs[index]} ms); all copies there after ${arrivedS} s`,
        });
      }
    }
    return results;
  } finally {
    await mount?.close();
    await cluster.close();
  }
}
