import type { MemberId } from '@lockstep/shared';
import { formatBytes } from '@lockstep/shared/present';
import { backoffMs } from '../../core/backoff.ts';
import type { DraftRoom } from '../../core/cache/draft-room.ts';
import { GreedyDualSize } from '../../core/cache/greedy-dual-size.ts';
import { RoomPatience } from '../../core/cache/room-patience.ts';
import { adviceOfOverfull } from '../../core/copies/copies-rules.ts';
import type { Peers } from '../members/peers.ts';
import type { StoredUse } from '../ports/journal.ts';
import { Signal } from '../scheduling/signal.ts';
import type { Context } from '../state/context.ts';
import { CacheRoom, type CacheSize, type Reserved } from './cache-room.ts';
import type { Candidate } from './drop-candidates.ts';
import { FileDropper, type KeeperSearch } from './file-dropper.ts';

/** Questions to the other members at a time. */
const candidatesAtOnce = 256;
/** The time to fetch a file when none was measured: a question and its answer, and bytes over a line of 100 Mbit/s. */
const questionMs = 20;
const bytesPerMs = 12_500;
/** The pauses between attempts to drop files that may be dropped in a moment. */
const uncertainRetryMs = { min: 50, max: 500 };
const retry = { minMs: 1_000, maxMs: 60_000 };
/** Other members may need a moment to fetch files that were written here. */
const overUntilToldMs = 10_000;
/** A program that lacked room for what it writes is a problem for so long. */
const refusedDraftMs = 60_000;

/** Whether there is room. `later`: there may be once a file has come or was examined, or another member has it durably. */
type Outcome = 'room' | 'later' | 'never';

/**
 * Keeps the contents of a member that fetches on demand within their room. Other members have the contents that it drops: they are asked
 * first.
 */
export class Cache {
  readonly room: CacheRoom;
  readonly dropper: FileDropper;
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #measureDisk: () => Promise<void>;
  readonly #policy = new GreedyDualSize();
  readonly #patience = new RoomPatience();
  /** There is no room for a file that a reader or a writer needs. */
  readonly crowded = new Signal();
  /** Counts the attempts: while other members lack the files beyond the room, they are asked at growing intervals. */
  #attempts = 0;
  #againAtMs = 0;
  #overSinceMs: number | undefined;
  /** The last attempt to make room, which the next one waits for. */
  #making: Promise<unknown> = Promise.resolve();

  /** `arrivedBytes`: the bytes of a file that is coming that are on the disk already. */
  constructor(
    context: Context,
    parts: {
      readonly peers: Peers;
      readonly search: KeeperSearch;
      readonly size: CacheSize;
      readonly arrivedBytes: (path: string) => number;
      readonly measureDisk: () => Promise<void>;
    },
  ) {
    const { peers, search } = parts;
    this.room = new CacheRoom(context, parts.size, parts.arrivedBytes);
    this.dropper = new FileDropper(context, { peers, search, policy: this.#policy });
    this.#context = context;
    this.#peers = peers;
    this.#measureDisk = parts.measureDisk;
  }

  /** Restores the uses of files from an earlier run. */
  restore(uses: readonly StoredUse[]): void {
    for (const use of uses) this.#policy.restore(use.path, use);
  }

  /** The present worth of the file at `path`, to be stored. */
  worth(path: string): Pick<StoredUse, 'credit' | 'inflation'> {
    return { credit: Math.max(0, this.#policy.credit(path)), inflation: this.#policy.inflation };
  }

  /** Drops files beyond the room, once a second: users write to the disk without asking for it. */
  keepWithinRoom(): void {
    const nowMs = this.#context.clock.monotonicMs();
    if (this.room.usedBytes <= this.room.bytesMax) {
      this.#overSinceMs = undefined;
      this.#context.problems.clear('cache-full');
    } else {
      this.#overSinceMs ??= nowMs;
      if (nowMs - this.#overSinceMs >= overUntilToldMs) this.#tellOverfull();
    }
    if (this.room.hasRoom(0)) {
      this.#attemptAtOnce();
      return;
    }
    if (nowMs < this.#againAtMs) return;
    this.#attempts++;
    this.#againAtMs = nowMs + backoffMs(this.#attempts, retry, this.#context.clock.random());
    this.#makeRoom(0)
      .then((outcome) => {
        // The disk may fill further: a pause is for files that cannot be dropped.
        if (outcome === 'room') this.#attemptAtOnce();
      })
      .catch((error: unknown) => {
        this.#context.log.warn({ error: String(error) }, 'contents beyond the cache could not be dropped');
      });
  }

  #attemptAtOnce(): void {
    this.#attempts = 0;
    this.#againAtMs = 0;
  }

  #tellOverfull(): void {
    const detail =
      `The files here take ${formatBytes(this.room.usedBytes)}, and cache_size is ${formatBytes(this.room.bytesMax)}. The rest must stay: it is pinned, ` +
      `open in a program that writes to it, cannot be removed, or too few other members that answer have it. ${adviceOfOverfull(this.dropper.rules)}`;
    this.#context.problems.set('cache-full', {}, detail);
  }

  /** The file at `path` was read. */
  used(path: string): void {
    const size = this.#context.journal.disk.at(path)?.fingerprint?.size ?? 0;
    this.#policy.used(path, { costMs: questionMs + size / bytesPerMs, size });
  }

  /** The file at `path` was fetched, which took this long. */
  fetched(path: string, costMs: number): void {
    this.#policy.used(path, { costMs, size: this.#context.journal.disk.at(path)?.fingerprint?.size ?? 0 });
  }

  /** The file at `path` was fetched before it was read. `wasUsed`: it was used earlier, and keeps its worth from then, if that is known. */
  prefetched(path: string, wasUsed: boolean): void {
    if (this.#policy.credit(path) > 0) return;
    if (wasUsed) this.used(path);
    else this.#policy.prefetched(path);
  }

  /** Reserves free room for `bytes`, if there is enough that a reader will not soon need a file to be dropped. */
  reserveFree(path: string, bytes: number): Reserved | undefined {
    return this.room.hasAmpleRoom(bytes) ? this.room.reserve(path, bytes) : undefined;
  }

  /** Reserves room for `bytes`, and drops other files for it. A sentence if there is none. */
  async reserve(path: string, bytes: number): Promise<Reserved | { readonly reason: string }> {
    if (this.#context.self.onDemand !== true) return { end: () => undefined };
    let reserved: Reserved | undefined;
    await this.#makeRoomSoon(bytes, () => {
      reserved = this.room.reserve(path, bytes);
    });
    return reserved ?? { reason: this.room.fullReason(path, bytes) };
  }

  /**
   * The disk had no room for a file for which some is reserved: something else took it. Drops other files for it. Resolves with true if there
   * is room now because files were dropped, also before: more than `droppedBefore`. A quota may refuse a file for which the disk has room.
   */
  async regainRoom(droppedBefore: number): Promise<boolean> {
    if (this.#context.self.onDemand !== true) return false;
    await this.#measureDisk();
    const isRoom = (await this.#makeRoom(0)) === 'room' && this.dropper.files > droppedBefore;
    // Nothing is fetched while the disk counts as full.
    if (isRoom) await this.#measureDisk();
    return isRoom;
  }

  /**
   * Reserves room for `bytes` more of the draft of `path`, and drops other files for it; for as many as are `wished` if these fit already.
   * A sentence if there is none.
   */
  async growDrafts(
    room: DraftRoom,
    path: string,
    { bytes, wished }: { readonly bytes: number; readonly wished: number },
  ): Promise<string | undefined> {
    const { self, problems, log } = this.#context;
    const isFree = wished > bytes && this.room.hasAmpleRoom(wished);
    const more = isFree ? wished : bytes;
    if (self.onDemand !== true) return undefined;
    if (await this.#makeRoomSoon(more, () => room.grow(more))) {
      problems.clear('cache-full', { path });
      return undefined;
    }
    const reason = this.room.fullDraftReason(path, bytes);
    problems.set('cache-full', { path }, `A program could not write: ${reason}`, refusedDraftMs);
    log.warn({ path, bytes }, 'no room for what a program writes through the mount');
    return reason;
  }

  /**
   * As `#makeRoom`, but waits for files that cannot be dropped yet: they are being fetched, were just read or written, or are not durable
   * on another member.
   */
  async #makeRoomSoon(bytes: number, reserve: () => void): Promise<boolean> {
    const { clock, facts } = this.#context;
    if (!this.room.hasRoom(bytes)) this.crowded.publish();
    const now = () => ({
      nowMs: clock.monotonicMs(),
      sentBytes: this.#peers.all().reduce((sum, { sent }) => sum + sent.total, 0),
    });
    const wait = this.#patience.begin(now());
    for (let retryMs = uncertainRetryMs.min; ; retryMs = Math.min(2 * retryMs, uncertainRetryMs.max)) {
      const outcome = await this.#makeRoom(bytes, reserve);
      if (outcome === 'room') {
        this.#patience.reset();
        return true;
      }
      if (outcome === 'never' || wait.isOver(now(), this.room.isReserved)) return false;
      facts.syncWanted.publish();
      await new Promise<void>((resolve) => clock.after(retryMs, resolve));
    }
  }

  /** Drops files until `bytes` more fit into the cache. They are then reserved, before the next attempt counts the used bytes. */
  #makeRoom(bytes: number, reserve?: () => void): Promise<Outcome> {
    const made = this.#making.then(async () => {
      const outcome = await this.#dropFor(bytes, reserve === undefined);
      if (outcome === 'room') reserve?.();
      return outcome;
    });
    this.#making = made.catch(() => undefined);
    return made;
  }

  /** `asksAll`: asks the others about files that could not be dropped a moment ago, too. Readers that wait share the last answers instead. */
  async #dropFor(bytes: number, asksAll: boolean): Promise<Outcome> {
    if (this.room.hasRoom(bytes)) return 'room';
    if (bytes + this.room.draftBytes > this.room.roomBytes) return 'never';
    const lowBytes = this.room.lowBytes(bytes);
    // A file whose fetch ends during the attempt is not a candidate.
    const isComing = this.room.isReserved;
    const found = this.dropper.candidates(asksAll);
    const { candidates } = found;
    let { waiting } = found;
    const silent = new Set<MemberId>();
    while (candidates.length > 0 && this.room.usedBytes > lowBytes) {
      let left = this.room.usedBytes - lowBytes;
      const batch: Candidate[] = [];
      while (left > 0 && batch.length < candidatesAtOnce) {
        const next = candidates.shift();
        if (next === undefined) break;
        batch.push(next);
        left -= next.size;
      }
      waiting += await this.dropper.drop(batch, silent);
    }
    if (this.room.hasRoom(bytes)) return 'room';
    return isComing || waiting > 0 || this.room.isReserved ? 'later' : 'never';
  }
}
