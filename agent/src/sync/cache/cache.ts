import { type ContentId, freeBytesMin, type MemberId } from '@lockstep/shared';
import { formatBytes } from '@lockstep/shared/present';
import { backoffMs } from '../../core/backoff.ts';
import { DraftRoom } from '../../core/cache/draft-room.ts';
import { DropPauses } from '../../core/cache/drop-pauses.ts';
import { areEnoughHolders } from '../../core/cache/enough-holders.ts';
import { GreedyDualSize } from '../../core/cache/greedy-dual-size.ts';
import { RoomPatience } from '../../core/cache/room-patience.ts';
import { StuckFiles } from '../../core/cache/stuck-files.ts';
import { adviceOfOverfull, CopiesRules } from '../../core/copies/copies-rules.ts';
import { type DiskEntry, type Fingerprint, isSameRow, remoteEntry } from '../../core/entry.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import type { DiskRoom } from '../ports/folder.ts';
import type { StoredUse } from '../ports/journal.ts';
import { Signal } from '../scheduling/signal.ts';
import { applyActions } from '../state/apply-actions.ts';
import type { Context } from '../state/context.ts';
import { type Candidate, findCandidates, mayDrop } from './drop-candidates.ts';

/** The room for contents as a person sets it: bytes, or a part of the disk. */
export type CacheSize = { readonly bytes: number } | { readonly share: number };

/** A full cache is emptied to this part of its size at once, so that not every read searches for files to drop. */
const lowShare = 0.95;
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

/** Until those of the cluster are set. */
const noRules = new CopiesRules([]);

/** Asks the other members about contents. */
export interface KeeperSearch {
  /** The members that have these contents and will not drop them, by path. */
  searchKeepers(
    files: readonly { readonly content: ContentId; readonly path: string }[],
  ): Promise<ReadonlyMap<string, readonly MemberId[]>>;
}

/** Room that was reserved for a file that is to come. */
export interface Reserved {
  end(): void;
}

/** A file that is coming. */
interface Coming {
  readonly path: string;
  readonly bytes: number;
}

/** Whether there is room. `later`: there may be once a file has come or was examined, or another member has it durably. */
type Outcome = 'room' | 'later' | 'never';

/**
 * Keeps the contents of a member that fetches on demand within their room. Other members have the contents that it drops: they are asked
 * first.
 */
export class Cache {
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #search: KeeperSearch;
  readonly #arrivedBytes: (path: string) => number;
  readonly #measureDisk: () => Promise<void>;
  readonly #policy = new GreedyDualSize();
  /** Files that are coming. */
  readonly #reserved = new Set<Coming>();
  readonly #drafts = new Set<DraftRoom>();
  readonly #patience = new RoomPatience();
  /** Files that were dropped in this run of the agent. */
  droppedFiles = 0;
  /** The file at the path was dropped. */
  readonly dropped = new Signal<string>();
  /** There is no room for a file that a reader or a writer needs. */
  readonly crowded = new Signal();
  /** There may be more room: a person raised the limit. */
  readonly raised = new Signal();
  #size: CacheSize;
  #diskBytes = Number.POSITIVE_INFINITY;
  /** Bytes that the contents may take, so that the disk keeps some free: as of its last measurement. */
  #bytesThatFit = Number.POSITIVE_INFINITY;
  /** Counts the attempts: while other members lack the files beyond the room, they are asked at growing intervals. */
  #attempts = 0;
  #againAtMs = 0;
  #overSinceMs: number | undefined;
  readonly #stuck = new StuckFiles();
  readonly #pauses = new DropPauses();
  /** The last attempt to make room, which the next one waits for. */
  #making: Promise<unknown> = Promise.resolve();
  #rules: () => Pick<CopiesRules, 'active' | 'general' | 'copiesOf'> = () => noRules;

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
    this.#context = context;
    this.#peers = parts.peers;
    this.#search = parts.search;
    this.#size = parts.size;
    this.#arrivedBytes = parts.arrivedBytes;
    this.#measureDisk = parts.measureDisk;
  }

  /** Bytes that the contents may take, if other files leave the disk room for them. */
  get bytesMax(): number {
    return 'bytes' in this.#size ? this.#size.bytes : Math.floor(this.#diskBytes * this.#size.share);
  }

  /** Bytes that the contents may take now. */
  get roomBytes(): number {
    return Math.min(this.bytesMax, this.#bytesThatFit);
  }

  /** Bytes of the files that are here, of those that are coming, and of those that programs write through a mount. */
  get usedBytes(): number {
    let bytes = this.#context.journal.totals.counts().disk.bytes;
    for (const reserved of this.#reserved) bytes += reserved.bytes;
    return bytes + this.#draftBytes;
  }

  /** Bytes of the files that are coming that are not on the disk yet. */
  get #missingBytes(): number {
    let bytes = 0;
    for (const reserved of this.#reserved) bytes += Math.max(0, reserved.bytes - this.#arrivedBytes(reserved.path));
    return bytes;
  }

  get #draftBytes(): number {
    let bytes = 0;
    const journaledAt = (path: string): Fingerprint | undefined => this.#context.journal.disk.at(path)?.fingerprint;
    for (const room of this.#drafts) bytes += room.countedBytes(journaledAt);
    return bytes;
  }

  /** Sets the rules for the number of members that must have a file when this one drops it. */
  keep(rules: () => CopiesRules): void {
    this.#rules = rules;
  }

  /** True if no other member is connected: none can bring a file, or say that it keeps one that is to be dropped. */
  get isAlone(): boolean {
    return this.#peers.ready().length === 0;
  }

  /** True if `bytes` more fit. */
  hasRoom(bytes: number): boolean {
    return this.usedBytes + bytes <= this.roomBytes;
  }

  /** Sets another size. */
  limit(size: CacheSize): void {
    const before = this.bytesMax;
    this.#size = size;
    if (this.bytesMax > before) this.raised.publish();
  }

  /** Restores the uses of files from an earlier run. */
  restore(uses: readonly StoredUse[]): void {
    for (const use of uses) this.#policy.restore(use.path, use);
  }

  /** The present worth of the file at `path`, to be stored. */
  worth(path: string): Pick<StoredUse, 'credit' | 'inflation'> {
    return { credit: Math.max(0, this.#policy.credit(path)), inflation: this.#policy.inflation };
  }

  /**
   * The disk was measured just now: files that were dropped since would count twice. If it has no inodes left, no file is dropped: a large one
   * frees only one of them.
   */
  measured({ freeBytes, totalBytes }: DiskRoom): void {
    this.#diskBytes = totalBytes;
    this.#bytesThatFit = Math.max(0, this.usedBytes - this.#missingBytes + freeBytes - freeBytesMin);
  }

  /** Drops files beyond the room, once a second: users write to the disk without asking for it. */
  keepWithinRoom(): void {
    const nowMs = this.#context.clock.monotonicMs();
    if (this.usedBytes <= this.bytesMax) {
      this.#overSinceMs = undefined;
      this.#context.problems.clear('cache-full');
    } else {
      this.#overSinceMs ??= nowMs;
      if (nowMs - this.#overSinceMs >= overUntilToldMs) this.#tellOverfull();
    }
    if (this.hasRoom(0)) {
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
      `The files here take ${formatBytes(this.usedBytes)}, and cache_size is ${formatBytes(this.bytesMax)}. The rest must stay: it is pinned, ` +
      `open in a program that writes to it, cannot be removed, or too few other members that answer have it. ${adviceOfOverfull(this.#rules())}`;
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
    if (this.usedBytes + bytes > this.roomBytes * lowShare) return undefined;
    const coming = { path, bytes };
    this.#reserved.add(coming);
    return { end: () => void this.#reserved.delete(coming) };
  }

  /** Reserves room for `bytes`, and drops other files for it. A sentence if there is none. */
  async reserve(path: string, bytes: number): Promise<Reserved | { readonly reason: string }> {
    if (this.#context.self.onDemand !== true) return { end: () => undefined };
    const coming = { path, bytes };
    if (!(await this.#makeRoomSoon(bytes, () => this.#reserved.add(coming)))) {
      return { reason: this.#fullReason(path, bytes) };
    }
    return { end: () => void this.#reserved.delete(coming) };
  }

  /**
   * The disk had no room for a file for which some is reserved: something else took it. Drops other files for it. Resolves with true if there
   * is room now because files were dropped, also before: more than `droppedBefore`. A quota may refuse a file for which the disk has room.
   */
  async regainRoom(droppedBefore: number): Promise<boolean> {
    if (this.#context.self.onDemand !== true) return false;
    await this.#measureDisk();
    const isRoom = (await this.#makeRoom(0)) === 'room' && this.droppedFiles > droppedBefore;
    // Nothing is fetched while the disk counts as full.
    if (isRoom) await this.#measureDisk();
    return isRoom;
  }

  /** Room for what programs write through one mount: none yet. */
  openDrafts(): DraftRoom {
    const room = new DraftRoom();
    this.#drafts.add(room);
    return room;
  }

  closeDrafts(room: DraftRoom): void {
    this.#drafts.delete(room);
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
    const isFree = wished > bytes && this.usedBytes + wished <= this.roomBytes * lowShare;
    const more = isFree ? wished : bytes;
    if (self.onDemand !== true) return undefined;
    if (await this.#makeRoomSoon(more, () => room.grow(more))) {
      problems.clear('cache-full', { path });
      return undefined;
    }
    const all = this.#draftBytes + bytes;
    const full =
      all > this.bytesMax
        ? `There is no room for ${path}: programs write ${formatBytes(all)} through the mount, and the whole cache has room for ${formatBytes(this.bytesMax)}. Raise cache_size.`
        : this.#fullReason(path, bytes);
    const oldBytes = this.#context.journal.disk.at(path)?.fingerprint?.size ?? 0;
    const both = ` Its old version of ${formatBytes(oldBytes)} stays until the changed one is closed: a change needs room for both.`;
    const reason = oldBytes > 0 ? full + both : full;
    problems.set('cache-full', { path }, `A program could not write: ${reason}`, refusedDraftMs);
    log.warn({ path, bytes }, 'no room for what a program writes through the mount');
    return reason;
  }

  #fullReason(path: string, bytes: number): string {
    if (bytes > this.bytesMax)
      return `${path} has ${bytes} bytes, and the whole cache has room for ${this.bytesMax}: raise cache_size.`;
    if (this.#bytesThatFit < this.bytesMax)
      return `The disk of the folder has no room for ${path}, even without the files that other members have. Free some space.`;
    return (
      `There is no room for ${path}: what is in the cache must stay, because it is pinned, a copy that the cluster keeps here, being read, open in a program that writes to it, or not on enough other members yet. ` +
      'Raise cache_size, unpin something, or ask for fewer copies.'
    );
  }

  /**
   * As `#makeRoom`, but waits for files that cannot be dropped yet: they are being fetched, were just read or written, or are not durable
   * on another member.
   */
  async #makeRoomSoon(bytes: number, reserve: () => void): Promise<boolean> {
    const { clock, facts } = this.#context;
    if (!this.hasRoom(bytes)) this.crowded.publish();
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
      if (outcome === 'never' || wait.isOver(now(), this.#reserved.size > 0)) return false;
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
    if (this.hasRoom(bytes)) return 'room';
    const roomBytes = this.roomBytes;
    if (bytes + this.#draftBytes > roomBytes) return 'never';
    // A full disk gets some room at once, too.
    const lowBytes = Math.min(roomBytes - bytes, roomBytes * lowShare, this.#bytesThatFit - bytes - freeBytesMin);
    // A file whose fetch ends during the attempt is not a candidate.
    const isComing = this.#reserved.size > 0;
    const nowMs = this.#context.clock.monotonicMs();
    const found = findCandidates(this.#context, this.#policy, (path) => this.#stuck.has(path, nowMs));
    const candidates = found.candidates.filter(({ row }) => asksAll || !this.#pauses.has(row, nowMs));
    const areOthersUp = this.#peers.ready().length > 0;
    let waiting = found.uncertain + (areOthersUp ? found.candidates.length - candidates.length : 0);
    while (candidates.length > 0 && this.usedBytes > lowBytes) {
      let left = this.usedBytes - lowBytes;
      const batch: Candidate[] = [];
      while (left > 0 && batch.length < candidatesAtOnce) {
        const next = candidates.shift();
        if (next === undefined) break;
        batch.push(next);
        left -= next.size;
      }
      waiting += await this.#drop(batch);
    }
    if (this.hasRoom(bytes)) return 'room';
    return isComing || waiting > 0 || this.#reserved.size > 0 ? 'later' : 'never';
  }

  /**
   * Drops those of these files that enough other members have, and that no program writes to: its later writes would go to a file without
   * a name, and be lost. Resolves with the number of the rest that may be dropped soon: it was in use, or a member is up that may have it.
   */
  async #drop(batch: readonly Candidate[]): Promise<number> {
    const { wanted, lock, folder, clock } = this.#context;
    // From now on this member tells the others that it lacks them: of two that drop the same file, at most one is told that the other has it.
    for (const { row } of batch) wanted.dropping.add(row.path);
    try {
      const sought = batch.map(({ row: { content, path } }) => ({ content, path }));
      const keepers = await this.#search.searchKeepers(sought);
      const others = this.#peers.all().filter(({ state }) => state !== 'left');
      const enough = batch.filter((candidate) => {
        return this.#isEnough(candidate, keepers.get(candidate.row.path) ?? [], others);
      });
      const inUse = new Set(enough.length > 0 ? await folder.inUse() : []);
      const idle = enough.filter(({ row }) => !inUse.has(row.path));
      const nowMs = clock.monotonicMs();
      for (const candidate of batch) {
        if (!idle.includes(candidate)) this.#pauses.failed(candidate.row, nowMs, clock.random());
      }
      if (idle.length > 0) await lock.run(() => this.#remove(idle.map(({ row }) => row)));
      const mayBeSoon = this.#peers.ready().length > 0 ? batch : enough;
      return mayBeSoon.length - idle.length;
    } finally {
      for (const { row } of batch) wanted.dropping.delete(row.path);
    }
  }

  #isEnough({ row, isOwn }: Candidate, holders: readonly Peer['id'][], others: readonly Peer[]): boolean {
    const members = others.map(({ id }) => {
      return { isOnDemand: this.#peers.isOnDemand(id), hasIt: holders.includes(id) };
    });
    return areEnoughHolders(members, { isOwn, copies: this.#rules().copiesOf(row.path) });
  }

  /** Removes files from the disk, under the folder lock. They are recorded as remote first: a kill in between must not look like a delete. */
  async #remove(rows: readonly (DiskEntry & { readonly content: ContentId })[]): Promise<void> {
    const { journal, folder, facts, clock } = this.#context;
    const present = rows.filter((row) => isSameRow(journal.disk.at(row.path), row) && mayDrop(this.#context, row));
    if (present.length === 0) return;
    journal.disk.record(present.map(({ path, dot }) => remoteEntry(path, dot)));
    const results = await applyActions(
      this.#context,
      present.flatMap(({ path, fingerprint, content }) =>
        fingerprint === undefined ? [] : [{ action: { do: 'unlink', path, expected: fingerprint, content } as const }],
      ),
    );
    for (const [index, { path, ...entry }] of present.entries()) {
      const result = results[index]?.result;
      if (result === 'done') {
        this.#policy.dropped(path);
        this.droppedFiles++;
        this.dropped.publish(path);
        continue;
      }
      const [seen] = await folder.observe([{ path, expected: entry.fingerprint }]);
      // A user changed it at this moment: that is an edit of the version that was here.
      if (result === 'changed' || seen?.state === 'same') journal.disk.record([{ path, entry }]);
      // A call may fail when it has removed the file: that must not look like a user's delete.
      else if (seen?.state === 'problem') facts.actionUnclear.publish(path);
      facts.doubted.publish(path);
      if (result === 'problem') this.#stuck.add(path, clock.monotonicMs());
    }
  }
}
