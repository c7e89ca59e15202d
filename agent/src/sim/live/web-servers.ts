import { inlineBytesMax } from '@lockstep/shared';
import { findVersion, openVersion } from '../../http/queries/folder/content.ts';
import type { Engine } from '../../sync/engine.ts';
import { type Content, contentOfBytes, virtualContent } from '../disk/content.ts';
import { Uplink } from '../network/uplink.ts';
import type { Machine } from '../world/machine.ts';
import { LiveCluster } from './live-cluster.ts';

/** Lines of 1 Gbit/s in one building. */
const lineBytesPerMs = 125_000;
const delayMs = 0.1;

/** Conditions over all members are examined in this interval: after each task they would cost more than the tasks. */
const pollMs = 100;
const joinedWithinMs = 600_000;
const readWithinMs = 3_600_000;

/** Plain data, so that a thread can be given it. */
export interface WebServersOptions {
  /** Without cooperation the servers reach only the origin. */
  readonly cooperate: boolean;
  /** The files that the origin has. */
  readonly pages: readonly { readonly path: string; readonly bytes: number }[];
  /** For each server, the paths that its readers ask for, in turn. */
  readonly reads: readonly (readonly string[])[];
  readonly readersPerServer: number;
  /** The room of each server for contents. */
  readonly cacheBytes: number;
  /** The rate at which the origin sends to all servers together, and how late everything to and from it arrives. */
  readonly origin: { readonly bytesPerSecond: number; readonly delayMs: number };
}

/** The results of the servers, in simulated time. */
export interface WebServersRun {
  readonly ms: number;
  readonly hits: number;
  readonly fetchedBytes: number;
  /** Bytes of contents that the origin sent. */
  readonly originBytes: number;
  /** The filters of the others' contents on all members, and their bytes. */
  readonly filters: number;
  readonly filterBytes: number;
  /** Members that were asked for a content, and those of them whose filter was wrong. */
  readonly questions: number;
  readonly falseAnswers: number;
}

/**
 * Web servers with the real engine, on simulated time, disks and network, which fetch pages on demand and answer the reads of a trace. A read
 * takes the way of one by URL, without HTTP.
 */
export async function runWebServers(options: WebServersOptions): Promise<WebServersRun> {
  const uplinks = new Map<string, Uplink>();
  const uplinkOf = (name: string): Uplink => {
    const uplink = uplinks.get(name) ?? new Uplink(lineBytesPerMs);
    uplinks.set(name, uplink);
    return uplink;
  };
  const failures: string[] = [];
  const cluster = new LiveCluster({
    names: ['origin'],
    network: (a, b) => ({
      delayMsMin: a === 'origin' || b === 'origin' ? options.origin.delayMs : delayMs,
      delayMsMax: delayMs,
      bytesPerMs: lineBytesPerMs,
    }),
    uplink: uplinkOf,
    cacheBytes: options.cacheBytes,
    failed: (what) => failures.push(what),
  });
  try {
    const servers = await join(cluster, options);
    // Not before all members know all pages, which takes no part of the run.
    uplinkOf('origin').bytesPerMs = options.origin.bytesPerSecond / 1_000;
    const run = await serve(cluster, servers, options);
    const [failure] = failures;
    if (failure !== undefined) throw new Error(failure);
    return run;
  } finally {
    await cluster.close();
  }
}

/** Starts the members. Resolves with the servers once each knows all pages and reaches all members that it may reach. */
async function join(cluster: LiveCluster, options: WebServersOptions): Promise<readonly Machine[]> {
  const { pages, reads, cooperate } = options;
  const origin = cluster.machine('origin');
  const { disk } = origin.volume;
  const directories = new Set(pages.map(({ path }) => path.slice(0, path.lastIndexOf('/'))));
  for (const directory of directories) disk.mkdir(directory);
  for (const { path, bytes } of pages) disk.write(path, pageOf(path, bytes));
  origin.start();
  await settled(cluster, () => origin.engine?.lifecycle.state === 'active' && hasAll(origin, pages.length));
  const servers = reads.map((_, index) => cluster.add(`server-${index}`, { isOnDemand: true }));
  if (!cooperate) {
    for (const a of servers) for (const b of servers) if (a.id < b.id) cluster.medium.cut(a.id, b.id, 'refused');
  }
  for (const server of servers) server.start();
  const reached = cooperate ? servers.length : 1;
  await settled(cluster, () =>
    servers.every((server) => {
      const { engine } = server;
      return engine !== undefined && engine.peers.ready().length === reached && hasAll(server, pages.length);
    }),
  );
  return servers;
}

/** The content of a page, which differs from that of all others. */
function pageOf(path: string, bytes: number): Content {
  if (bytes > inlineBytesMax) return virtualContent(path, bytes);
  const content = Buffer.alloc(bytes, 'x');
  content.write(path);
  return contentOfBytes(content);
}

function hasAll({ journal, engine }: Machine, pages: number): boolean {
  const { files, pending, disk } = journal.totals.counts();
  return files === pages && pending === 0 && (engine?.context.self.onDemand === true || disk.files === pages);
}

/** Runs simulated time until the condition holds, which is examined at intervals. */
async function settled(cluster: LiveCluster, condition: () => boolean): Promise<void> {
  let dueMs = 0;
  await cluster.until(() => {
    const { nowMs } = cluster.scheduler;
    if (nowMs < dueMs) return false;
    dueMs = nowMs + pollMs;
    return condition();
  }, joinedWithinMs);
}

/** All servers read their parts of the trace. */
async function serve(
  cluster: LiveCluster,
  servers: readonly Machine[],
  options: WebServersOptions,
): Promise<WebServersRun> {
  const origin = engineOf(cluster.machine('origin'));
  const sentBytes = (): number => sum(origin.peers.all(), ({ sent }) => sent.total);
  const sentBefore = sentBytes();
  const startedMs = cluster.scheduler.nowMs;
  let open = servers.length;
  let failure: unknown;
  for (const [index, server] of servers.entries()) {
    readAll(engineOf(server), options.reads[index] ?? [], options.readersPerServer)
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => open--);
  }
  await cluster.until(() => open === 0 || failure !== undefined, readWithinMs);
  if (failure !== undefined) throw failure;
  const engines = [origin, ...servers.map(engineOf)];
  const filters = engines.flatMap(({ peers }) => peers.all().flatMap(({ holdings }) => holdings ?? []));
  return {
    ms: cluster.scheduler.nowMs - startedMs,
    hits: sum(engines, ({ onDemand }) => onDemand.report()?.hits ?? 0),
    fetchedBytes: sum(engines, ({ onDemand }) => onDemand.report()?.fetchedBytes ?? 0),
    originBytes: sentBytes() - sentBefore,
    filters: filters.length,
    filterBytes: sum(filters, ({ bytes }) => bytes),
    questions: sum(engines, ({ totals }) => totals.contentQuestions),
    falseAnswers: sum(engines, ({ totals }) => totals.falseFilterAnswers),
  };
}

/** The readers of one server read its part of the trace. */
async function readAll(engine: Engine, paths: readonly string[], readers: number): Promise<void> {
  const left = paths.values();
  const reader = async (): Promise<void> => {
    for (const path of left) {
      const { chunks } = await openVersion(engine, findVersion(engine, path));
      for await (const _ of chunks);
    }
  };
  await Promise.all(Array.from({ length: readers }, reader));
}

function engineOf({ name, engine }: Machine): Engine {
  if (engine === undefined) throw new Error(`the agent of ${name} does not run`);
  return engine;
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
