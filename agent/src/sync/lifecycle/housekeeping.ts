import { type ContentId, folderStallMs } from '@lockstep/shared';
import { type LatencyHistory, latencyRows } from '../measurements/latency-history.ts';
import type { ThroughputHistory } from '../measurements/throughput.ts';
import type { Peers } from '../members/peers.ts';
import type { CatchUp } from '../replication/catch-up.ts';
import type { Dialer } from '../replication/dialer.ts';
import type { Incoming } from '../replication/incoming.ts';
import type { Context } from '../state/context.ts';
import type { Problems } from '../state/problems.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';
import { isWanted } from '../transfer/local-content.ts';
import type { OldVersions } from '../versions/old-versions.ts';

/** The loops that are checked once a second. */
export interface HousekeepingLoops {
  readonly latencies: LatencyHistory;
  readonly throughput: ThroughputHistory;
  readonly peers: Peers;
  readonly transfers: ContentFetcher;
  readonly oldVersions: OldVersions;
  readonly catchUp: CatchUp;
  readonly dialer: Dialer;
  readonly incoming: Incoming;
}

/** The most files with one content that are searched for a wanted one. */
const sameContentMax = 1_000;

/** True while users' changes settle, or contents come: what reads the whole folder in the background waits. */
export function isOccupied(loops: {
  readonly localChanges: { readonly unsettled: number };
  readonly transfers: ContentFetcher;
}): boolean {
  return loops.localChanges.unsettled > 0 || loops.transfers.isReceiving;
}

/** Regular tasks, once a second: checks states without an event, and withdraws or drops what is no longer needed. */
export class Housekeeping {
  readonly #context: Context;
  readonly #loops: HousekeepingLoops;

  constructor(context: Context, loops: HousekeepingLoops) {
    this.#context = context;
    this.#loops = loops;
    context.facts.second.on(() => this.#run());
    for (const journaled of [context.facts.received, context.facts.made]) {
      journaled.on((operations) => loops.transfers.superseded(operations, (content) => this.#needsStaged(content)));
    }
  }

  #run(): void {
    const { problems, sentBytesCache } = this.#context;
    const { peers, transfers, catchUp, dialer, incoming } = this.#loops;
    this.#checkThreads();
    peers.refreshStates();
    this.#noteLatencies();
    this.#noteThroughput();
    problems.expire();
    withdrawOfAbsent(problems, peers);
    peers.learn();
    peers.checkSessions();
    dialer.refresh();
    transfers.exchange.tick();
    transfers.dropUnneeded((content) => this.#needsStaged(content));
    catchUp.check();
    incoming.tidy();
    // Bytes that were not sent within seconds can be read from the folder again.
    sentBytesCache.age();
  }

  /** Reports a worker that hangs. The rest of the agent continues, so a user must learn of it. */
  #checkThreads(): void {
    const { problems, folder } = this.#context;
    const stalledMs = folder.stalledMs();
    if (stalledMs < folderStallMs) {
      problems.clear('folder-stalled');
      return;
    }
    const seconds = Math.floor(stalledMs / 1_000);
    const detail =
      `The thread that reads and writes the folder has made no progress for ${seconds} s: the disk hangs or is very slow. No data is lost; ` +
      'the thread continues when the disk answers. Check the disk (dmesg), and restart the agent if the disk is healthy.';
    problems.set('folder-stalled', {}, detail);
  }

  #noteLatencies(): void {
    const { self, clock } = this.#context;
    const { peers, latencies } = this.#loops;
    const others = peers.all().filter(({ state }) => state !== 'left');
    const members = new Set([self.id, ...others.map(({ id }) => id)]);
    latencies.note(clock.monotonicMs(), members, latencyRows(self.id, peers));
  }

  #noteThroughput(): void {
    const { clock, journal } = this.#context;
    const peers = this.#loops.peers.all();
    this.#loops.throughput.note(clock.monotonicMs(), {
      operations: journal.log.length(),
      receivedBytes: peers.reduce((sum, { received }) => sum + received.total, 0),
      sentBytes: peers.reduce((sum, { sent }) => sum + sent.total, 0),
    });
  }

  /** Whether a staged content is needed: not if its version was superseded, or if a file on the disk holds it, which is then the source. */
  #needsStaged(content: ContentId): boolean {
    const { journal } = this.#context;
    if (this.#loops.oldVersions.isKeeping(content)) return true;
    if (!isWanted(journal, content)) return false;
    // A member with the whole folder needs it for any path. On demand it may be needed for one of many files with this content.
    const paths = journal.heads.allWithContent(content, this.#context.self.onDemand ? sameContentMax : 1);
    return paths.some(({ path }) => this.#isFetched(path));
  }

  /** Whether the contents at a path are fetched: on a member on demand, those that are wanted, those of siblings, and that of a damaged file. */
  #isFetched(path: string): boolean {
    const { journal, wanted } = this.#context;
    if (wanted.isWanted(path) || journal.disk.at(path)?.damaged === true) return true;
    // Every member keeps the contents of siblings until they are joined.
    return journal.heads.at(path).length > 1;
  }
}

/**
 * Withdraws problems of members that can no longer be compared: clock skew of a member that is down or left, and a digest mismatch
 * with one that left. Also withdraws those under a former name.
 */
export function withdrawOfAbsent(problems: Problems, peers: Peers): void {
  if (problems.count === 0) return;
  const names = (states: readonly string[]): ReadonlySet<string> =>
    new Set(peers.all().flatMap(({ id, state }) => (states.includes(state) ? [] : peers.nameOf(id))));
  const present = names(['down', 'left']);
  const members = names(['left']);
  for (const { code, member } of problems.list()) {
    if (member === undefined) continue;
    const isOver =
      (code === 'clock-skew' && !present.has(member)) || (code === 'digest-mismatch' && !members.has(member));
    if (isOver) problems.clear(code, { member });
  }
}
