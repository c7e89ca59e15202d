import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { apiPrefix } from '@lockstep/shared/api';
import { Cluster } from '../../testkit/cluster.ts';
import type { Member } from '../../testkit/member.ts';
import { median, type Result } from '../result.ts';
import { assertSame } from './through.ts';

/** "File Replication and Performance Evaluation", 2010: seconds, written in parallel to three members, read here and from another machine. */
const sizes = [
  { name: '512 KB', bytes: 512_000, theirs: { three: 1.127, local: 0.035, remote: 0.091 } },
  { name: '1 MB', bytes: 1_000_000, theirs: { three: 2.209, local: 0.052, remote: 0.16 } },
  { name: '10 MB', bytes: 10_000_000, theirs: { three: 68.508, local: 0.27, remote: 1.152 } },
] as const;

const rounds = 10;
const names = ['ant', 'bee', 'cat'];

/** The times from a new file until all members have it durably, and of its reads here and at another member. */
async function timesOf([ant, ...others]: readonly Member[], bytes: number) {
  const times = { write: [] as number[], local: [] as number[], remote: [] as number[] };
  if (ant === undefined) return times;
  for (let round = 0; round < rounds; round++) {
    const name = `file-${bytes}-${round}`;
    const content = randomBytes(bytes);
    let startMs = performance.now();
    await ant.put(name, content);
    const { done } = await ant.wait({ for: 'all', path: name });
    times.write.push(performance.now() - startMs);
    if (!done) throw new Error(`${name} was not confirmed by all`);
    const reader = others[0] ?? ant;
    startMs = performance.now();
    await readFile(reader.path(name));
    times.local.push(performance.now() - startMs);
    startMs = performance.now();
    const answer = await ant.fetch(`${apiPrefix}/files/${name}`);
    const read = Buffer.from(await answer.arrayBuffer());
    times.remote.push(performance.now() - startMs);
    if (!read.equals(content)) throw new Error(`${name} was read wrongly`);
  }
  return times;
}

/** The tables of RFS: files that 1, 2 and 3 members have confirmed, and reads. */
export async function acknowledged(directory: string): Promise<Result[]> {
  const results: Result[] = [];
  const ofOne = new Map<string, number>();
  for (const count of [1, 2, 3]) {
    const cluster = await Cluster.start(names.slice(0, count), { directory });
    try {
      // The first requests load what they need.
      await timesOf(cluster.members, 1_000);
      for (const { name, bytes, theirs } of sizes) {
        const { write, local, remote } = await timesOf(cluster.members, bytes);
        if (count === 1) ofOne.set(name, median(write));
        const oneMs = ofOne.get(name) ?? 0;
        const atMost = count === 3 ? 2 * oneMs : 1_000 * theirs.three;
        results.push({
          name: `${name}, durable on ${count} ${count === 1 ? 'member' : 'members'}`,
          unit: 'ms',
          lockstep: write,
          target: { atMost },
          goal: { atMost: count === 3 ? 1.5 * oneMs : atMost },
          note: count === 3 ? `RFS: ${1_000 * theirs.three} ms; the bound is twice the time of one member` : undefined,
        });
        if (count < 3) continue;
        for (const [where, values, theirS] of [
          ['in the folder of another member', local, theirs.local],
          ['from another member, by URL', remote, theirs.remote],
        ] as const) {
          const bound = { atMost: 1_000 * theirS };
          results.push({ name: `${name}, read ${where}`, unit: 'ms', lockstep: values, target: bound, goal: bound });
        }
      }
      await assertSame(cluster.members);
    } finally {
      await cluster.close();
    }
  }
  return results;
}
