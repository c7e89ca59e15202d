import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { WebServersOptions, WebServersRun } from '../../agent/dist/sim/live/web-servers.js';
import { repositoryRoot } from '../../testkit/repository.ts';
import type { Result } from '../result.ts';
import { cooperationGain, originDisk, pages, readersPerServer, reads, serverCacheBytes } from '../web-trace.ts';

/** The largest cluster has 64 members: one of them is the origin. */
const servers = 63;
/** A tenth of those of real servers. */
const readsPerServer = 200;

/**
 * As `webServers`, for more members than one machine can run: the real engine on simulated time, disks and network. Other work on this
 * machine takes no simulated time, so both runs are made at the same time.
 */
export async function simulatedWebServers(): Promise<Result[]> {
  const [alone, together] = await Promise.all([simulate(false), simulate(true)]);
  const readCount = servers * readsPerServer;
  const percent = (share: number, digits = 0): string => `${(100 * share).toFixed(digits)} %`;
  const note = (run: WebServersRun): string =>
    `${((1_000 * readCount) / run.ms).toFixed(0)} reads/s, ${percent(run.hits / readCount)} hits, ` +
    `${percent(run.originBytes / run.fetchedBytes)} of what was fetched from the origin`;
  const { filters, filterBytes, questions, falseAnswers } = together;
  const told =
    `${filters} filters of others take ${(filterBytes / 1e3).toFixed(0)} kB on all members; ` +
    `${percent(falseAnswers / questions, 2)} of ${questions} questions were asked because of a wrong filter`;
  return [
    {
      name: `${servers} simulated web servers and an origin of ${originDisk.bytesPerSecond / 1e6} MB/s, ${readCount} reads`,
      unit: 'ms',
      lockstep: [together.ms],
      target: { atMost: alone.ms / cooperationGain.target },
      goal: { atMost: alone.ms / cooperationGain.goal },
      note: `${note(together)}; ${told}; without cooperation ${note(alone)}`,
    },
  ];
}

async function simulate(cooperate: boolean): Promise<WebServersRun> {
  const workerData: WebServersOptions = {
    cooperate,
    pages: pages(),
    reads: Array.from({ length: servers }, (_, index) => {
      const paths = reads(`server-${index}`);
      return Array.from({ length: readsPerServer }, () => paths.next().value);
    }),
    readersPerServer,
    cacheBytes: serverCacheBytes,
    origin: originDisk,
  };
  const worker = new Worker(join(repositoryRoot, 'agent/dist/sim/live/web-servers-worker.js'), { workerData });
  const [run] = await once(worker, 'message');
  return run as WebServersRun;
}
