import { type ContentId, folderStallMs } from '@lockstep/shared';
import type { Materialiser } from './apply/apply-loop.ts';
import type { GroupGate } from './apply/rename-gate.ts';
import type { WriteBack } from './durability/write-back.ts';
import type { Health } from './health.ts';
import type { Damage } from './integrity/damage.ts';
import type { LocalChanges } from './local/local-changes.ts';
import type { Mounts } from './local/mounts.ts';
import { type LatencyHistory, latencyRows } from './members/latency-history.ts';
import { withdrawOfAbsent } from './members/member-problems.ts';
import type { Peers } from './members/peers.ts';
import type { CatchUp } from './replication/catch-up.ts';
import type { DialLoop } from './replication/dialer.ts';
import type { Incoming } from './replication/incoming.ts';
import type { Context } from './state/context.ts';
import type { Transfers } from './transfer/content-fetcher.ts';
import type { OldVersions } from './transfer/old-versions.ts';

/** What is seen to once a second. */
export interface UpkeepLoops {
  readonly health: Health;
  readonly mounts: Mounts;
  readonly latencies: LatencyHistory;
  readonly peers: Peers;
  readonly localChanges: LocalChanges;
  readonly materialiser: Materialiser;
  readonly transfers: Transfers;
  readonly oldVersions: OldVersions;
  readonly catchUp: CatchUp;
  readonly dialLoop: DialLoop;
  readonly incoming: Incoming;
  readonly damage: Damage;
  readonly writeBack: WriteBack;
}

/** With each heartbeat: notices what no event tells of, withdraws what is over, and gives up what is not needed any more. */
export class Upkeep {
  readonly #context: Context;
  readonly #loops: UpkeepLoops;
  readonly #gate: GroupGate;
  readonly #refreshStates: () => void;

  /** `refreshStates`: looks again who is down. */
  constructor(context: Context, loops: UpkeepLoops, gate: GroupGate, refreshStates: () => void) {
    this.#context = context;
    this.#loops = loops;
    this.#gate = gate;
    this.#refreshStates = refreshStates;
  }

  beat(): void {
    const { problems, outbox } = this.#context;
    const { peers, materialiser, transfers, catchUp, dialLoop, incoming, damage, writeBack } = this.#loops;
    this.#checkFolder();
    this.#checkThreads();
    this.#checkMounts();
    this.#refreshStates();
    this.#noteLatencies();
    problems.expire();
    materialiser.withdrawProblems();
    withdrawOfAbsent(problems, peers);
    peers.learn();
    peers.checkSessions();
    dialLoop.refresh();
    transfers.tick();
    transfers.dropUnneeded((content) => this.#needsStaged(content));
    catchUp.check();
    if (this.#gate.tick()) materialiser.poke();
    damage.tick();
    // A row that takes over another operation keeps its mark, and may be recorded after the sync that cleared it.
    writeBack.poke();
    incoming.tidy();
    // What was not sent within seconds can be read from the folder again.
    outbox.age();
  }

  #checkFolder(): void {
    const { problems } = this.#context;
    const { health, localChanges, materialiser } = this.#loops;
    if (!health.folder.ok) {
      problems.set('folder-missing', {}, health.folder.detail ?? 'The folder cannot be used.');
    } else if (problems.has('folder-missing')) {
      problems.clear('folder-missing');
      localChanges.scan('', true);
      materialiser.unpark();
    }
    const { state } = health.folder;
    if (state !== undefined) problems.set('state-unusable', {}, state);
    else if (health.folder.ok && problems.has('state-unusable')) {
      problems.clear('state-unusable');
      materialiser.unpark();
    }
  }

  /** A thread that hangs is no fault of the folder as far as can be seen from here: the rest of the agent goes on, and a person must know. */
  #checkThreads(): void {
    const { problems, folder } = this.#context;
    const stalledMs = folder.stalledMs();
    if (stalledMs < folderStallMs) {
      problems.clear('folder-stalled');
      return;
    }
    const seconds = Math.floor(stalledMs / 1_000);
    const detail =
      `The thread that reads and writes the folder has not got on for ${seconds} s: the disk hangs or is very slow. Nothing is lost; it ` +
      'goes on when the disk answers. Look at the disk (dmesg), and start the agent again if the disk is sound.';
    problems.set('folder-stalled', {}, detail);
  }

  #checkMounts(): void {
    const { problems, log } = this.#context;
    // While the folder is gone its mounts are hidden with it.
    if (problems.has('folder-missing')) return;
    this.#loops.mounts.check().catch((error: unknown) => {
      log.warn({ error: String(error) }, 'the mounts inside the folder could not be checked');
    });
  }

  #noteLatencies(): void {
    const { self, clock } = this.#context;
    const { peers, latencies } = this.#loops;
    const others = peers.all().filter(({ state }) => state !== 'left');
    const members = new Set([self.id, ...others.map(({ id }) => id)]);
    latencies.note(clock.monotonicMs(), members, latencyRows(self.id, peers));
  }

  /** A version that was superseded is not put in place any more, and one that is on the disk by other means is copied from there. */
  #needsStaged(content: ContentId): boolean {
    const { journal } = this.#context;
    if (this.#loops.oldVersions.isKeeping(content)) return true;
    return journal.headWithContent(content) !== undefined && journal.diskWithContent(content, 1).length === 0;
  }
}
