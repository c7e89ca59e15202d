import { Cluster } from '../../testkit/cluster.ts';
import type { Member } from '../../testkit/member.ts';
import type { Result } from '../result.ts';
import { until } from '../until.ts';
import {
  cooperationGain,
  filePaths,
  originDisk,
  readersPerServer,
  reads,
  serverCacheBytes,
  writePages,
} from '../web-trace.ts';

const readsPerServer = 2_000;

interface Run {
  readonly ms: number;
  /** Shares of all reads. */
  readonly hits: number;
  /** Bytes that the origin sent. */
  readonly originBytes: number;
  readonly fetchedBytes: number;
}

/** Servers that fetch on demand answer the reads of a trace. Without cooperation they reach only the origin. */
async function serve(
  directory: string,
  { servers, cooperate }: { readonly servers: number; readonly cooperate: boolean },
): Promise<Run> {
  const cluster = await Cluster.start(['origin'], { directory, proxied: true });
  try {
    const [source] = cluster.members as [Member];
    await writePages(source.folder);
    await until([source], (status) => status.files === filePaths.length && status.synchronised);
    const env = { LOCKSTEP_CONTENT: 'on-demand', LOCKSTEP_CACHE_SIZE: `${serverCacheBytes} B` };
    const names = Array.from({ length: servers }, (_, index) => `server-${index}`);
    for (const name of names) await cluster.add(name, { start: { env } });
    const members = names.map((name) => cluster.member(name));
    if (!cooperate) {
      for (const a of names) for (const b of names) if (a < b) cluster.link(a, b, 'cut');
    } else await cluster.connected();
    await until(members, (status) => status.cache?.remoteFiles === filePaths.length && status.pending === 0);
    const { bytesPerSecond, delayMs } = originDisk;
    cluster.shapes('origin', { bytesPerSecond: bytesPerSecond / servers, delayMs });
    const sentBefore = await source.metric('lockstep_peer_sent_bytes_total');
    const startMs = performance.now();
    await Promise.all(members.map(readAll));
    const ms = performance.now() - startMs;
    const caches = await Promise.all(members.map(async (member) => (await member.status()).cache));
    const sum = (of: (one: NonNullable<(typeof caches)[number]>) => number): number =>
      caches.reduce((total, one) => total + (one === undefined ? 0 : of(one)), 0);
    return {
      ms,
      hits: sum(({ hits }) => hits) / (servers * readsPerServer),
      fetchedBytes: sum(({ fetchedBytes }) => fetchedBytes),
      originBytes: (await source.metric('lockstep_peer_sent_bytes_total')) - sentBefore,
    };
  } finally {
    await cluster.close();
  }
}

/** The readers of one server read its part of the trace. */
async function readAll(member: Member): Promise<void> {
  const paths = reads(member.name);
  let left = readsPerServer;
  const reader = async (): Promise<void> => {
    while (left-- > 0) {
      const path = paths.next().value;
      const answer = await member.fetch(`api/v1/files/${path}`);
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (answer.status !== 200) throw new Error(`${member.name} answers ${answer.status} for ${path}: ${bytes}`);
    }
  };
  await Promise.all(Array.from({ length: readersPerServer }, reader));
}

/** Reads a second of web servers that fetch pages from each other, next to servers that have them from the origin alone. */
export async function webServers(directory: string): Promise<Result[]> {
  const results: Result[] = [];
  for (const members of [3, 8]) {
    const servers = members - 1;
    const alone = await serve(directory, { servers, cooperate: false });
    const together = await serve(directory, { servers, cooperate: true });
    const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
    const rate = (run: Run): string => `${((1_000 * servers * readsPerServer) / run.ms).toFixed(0)} reads/s`;
    const note = (run: Run): string =>
      `${rate(run)}, ${percent(run.hits)} hits, ${percent(run.originBytes / run.fetchedBytes)} of what was fetched from the origin`;
    results.push({
      name: `${servers} web servers and an origin of ${originDisk.bytesPerSecond / 1e6} MB/s, ${servers * readsPerServer} reads`,
      unit: 'ms',
      lockstep: [together.ms],
      target: { atMost: alone.ms / cooperationGain.target },
      goal: { atMost: alone.ms / cooperationGain.goal },
      note: `${note(together)}; without cooperation ${note(alone)}`,
    });
  }
  return results;
}
