import type { LackingCopies, Operation } from '@lockstep/shared';
import { StuckFiles } from '../../core/cache/stuck-files.ts';
import { copiesShare } from '../../core/copies/room.ts';
import type { Clock } from '../ports/clock.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import type { Context } from '../state/context.ts';
import type { Placement } from './placement.ts';

/** The numbers of files that are fetched at a time: new ones, and those that are placed here because a member went. */
const freshAtOnce = 16;
const movedAtOnce = 2;
/** The rate of copies that replace those of another member: they must not delay other work. */
const movedBytesPerSecond = 10 * 1_048_576;
/** The most missing files that are listed; the next scan of the rows finds the others. */
const listedMax = 10_000;
const rowsAtOnce = 1_000;
/** Operations arrive in floods. */
const afterChangeMs = 100;
const afterFailureMs = 10_000;

/** The bytes on this member, as the last scan of its rows found them. */
interface Load {
  /** The bytes of all contents that are placed here and that fit into the cache, and of those that are here. */
  readonly placed: number;
  readonly placedHere: number;
  /** The bytes of files that stay here for another reason: they are pinned, or no other member has them. */
  readonly staying: number;
}

/** The reason for a copy that is larger than the free part of the cache's share for copies. Smaller ones may fit. */
const tooLarge = 'too-large';

/** Fetches a file to this disk. */
export type Fetch = (path: string) => Promise<{ readonly isHere: boolean; readonly code?: string }>;

/**
 * Fetches the copies that this member keeps for the cluster: when a file is written, and when copies are to be here that were elsewhere. That
 * is so after a member went or is full, or a person changed a rule.
 */
export class CopiesKeeper {
  readonly #context: Context;
  readonly #placement: Placement;
  readonly #fetch: Fetch;
  readonly #bytesMax: () => number;
  readonly #loop: TaskLoop;
  /** Files that other members wrote and that are not applied yet, or not fetched. */
  readonly #fresh = new Set<string>();
  /** More files were written than can be listed: a scan finds them when they are applied. */
  #isFlooded = false;
  /** Copies that are missing here, with their bytes. */
  #missing = new Map<string, number>();
  #unlisted = { files: 0, bytes: 0 };
  #isScanDue = true;
  #isFull = false;
  /** Those that no member had when they were last asked for. */
  readonly #unavailable = new Set<string>();
  /** Those that cannot be put at their path. */
  readonly #stuck = new StuckFiles();
  #load: Load | undefined;

  /** `bytesMax`: the bytes that the contents on this member may take. */
  constructor(
    context: Context,
    parts: { readonly placement: Placement; readonly fetch: Fetch; readonly bytesMax: () => number },
  ) {
    this.#context = context;
    this.#placement = parts.placement;
    this.#fetch = parts.fetch;
    this.#bytesMax = parts.bytesMax;
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#run(),
      delayMs: () => afterChangeMs,
      failed: (error) => context.log.warn({ error: String(error) }, 'copies could not be fetched; this is retried'),
      retryMs: afterFailureMs,
    });
    if (context.self.onDemand !== true) return;
    const { facts } = context;
    for (const fact of [facts.placed, facts.sessionOpened, facts.pinned]) fact.on(() => this.#scanAgain());
    // Those that this member made may settle siblings whose content is elsewhere.
    for (const fact of [facts.received, facts.made]) fact.on((operations) => this.#note(operations));
    facts.applied.on(() => this.#applied());
  }

  stop(): void {
    this.#loop.stop();
  }

  /** The missing copies; undefined if there are none. */
  lacking(): LackingCopies | undefined {
    const files = this.#missing.size + this.#unlisted.files;
    if (files === 0) return undefined;
    let { bytes } = this.#unlisted;
    for (const size of this.#missing.values()) bytes += size;
    const isUnavailable = this.#unavailable.size > 0 && this.#unavailable.size === files;
    return { files, bytes, isFull: this.#isFull, isUnavailable };
  }

  /** Some of the files that are missing here. */
  lackingPaths(count: number): string[] {
    return [...this.#missing.keys()].slice(0, count);
  }

  /** Undefined before the first scan. */
  get load(): Load | undefined {
    return this.#load;
  }

  #note(operations: readonly Operation[]): void {
    if (this.#placement.rules.areTrivial) return;
    for (const { path, content } of operations) if (content !== undefined) this.#await(path);
    this.#loop.poke();
  }

  /** Examines the file once it is applied. */
  #await(path: string): void {
    this.#fresh.add(path);
    if (this.#fresh.size <= listedMax) return;
    this.#fresh.clear();
    this.#isFlooded = true;
  }

  #applied(): void {
    if (this.#fresh.size > 0) this.#loop.poke();
    if (!this.#isFlooded || this.#context.journal.totals.counts().pending > 0) return;
    this.#isFlooded = false;
    this.#scanAgain();
  }

  #scanAgain(): void {
    this.#isScanDue = true;
    this.#loop.poke();
  }

  async #run(): Promise<void> {
    await this.#fetchFresh();
    if (this.#isScanDue) await this.#scan();
    await this.#fetchMissing();
  }

  /** Fetches files that other members just wrote. A path that is not applied yet is examined again after the next application. */
  async #fetchFresh(): Promise<void> {
    const { journal } = this.#context;
    const due = [...this.#fresh].filter((path) => {
      const [head] = journal.heads.at(path);
      const row = journal.disk.at(path);
      const isApplied = head === undefined || (row?.dot.origin === head.origin && row.dot.seq === head.seq);
      if (isApplied) this.#fresh.delete(path);
      return isApplied && row?.remote === true && this.#placement.isPlacedHere(path);
    });
    for (const path of due) this.#missing.set(path, this.#sizeOf(path));
    await this.#fetchAll(due, freshAtOnce);
  }

  /** Tries all once. Those that cannot be fetched now are tried again: a member that has them may come, or there may be room. */
  async #fetchMissing(): Promise<void> {
    const { clock } = this.#context;
    const paths = [...this.#missing.keys()].filter((path) => !this.#stuck.has(path, clock.monotonicMs()));
    let isRoom = true;
    for (let index = 0; index < paths.length && !this.#loop.isStopped && isRoom; index += movedAtOnce) {
      const startedMs = clock.monotonicMs();
      const batch = paths.slice(index, index + movedAtOnce);
      const sizes = batch.map((path) => this.#missing.get(path) ?? 0);
      isRoom = await this.#fetchAll(batch, movedAtOnce);
      const bytes = sizes.reduce((sum, size, at) => sum + (this.#missing.has(batch[at] as string) ? 0 : size), 0);
      const restMs = (bytes / movedBytesPerSecond) * 1_000 - (clock.monotonicMs() - startedMs);
      if (restMs > 0) await pause(clock, restMs);
      // Newly written files go first.
      await this.#fetchFresh();
    }
    if (this.#unlisted.files > 0 && this.#missing.size < paths.length) this.#isScanDue = true;
    if (this.#missing.size > 0) this.#loop.in(afterFailureMs);
    else if (this.#isScanDue) this.#loop.poke();
  }

  /** Fetches these files, some at a time. Returns false if the cache has no room for more. */
  async #fetchAll(paths: readonly string[], atOnce: number): Promise<boolean> {
    let isRoom = true;
    for (let index = 0; index < paths.length && !this.#loop.isStopped; index += atOnce) {
      const fits = await Promise.all(paths.slice(index, index + atOnce).map((path) => this.#fetchOne(path)));
      isRoom &&= fits.every(Boolean);
    }
    return isRoom;
  }

  /** Fetches one file, if it is still to be here. Returns false if the cache has no room for more. */
  async #fetchOne(path: string): Promise<boolean> {
    const isDue = this.#context.journal.disk.at(path)?.remote === true && this.#placement.isPlacedHere(path);
    const fetched = isDue ? await this.#fetchIfRoom(path) : { isHere: true };
    this.#unavailable.delete(path);
    if (fetched.isHere) {
      this.#missing.delete(path);
      this.#isFull &&= !isDue;
      return true;
    }
    if (fetched.code === 'path-in-the-way') this.#stuck.add(path, this.#context.clock.monotonicMs());
    if (fetched.code !== 'disk-full' && fetched.code !== tooLarge) {
      this.#unavailable.add(path);
      return true;
    }
    // The room that this member reports depends on the bytes placed here.
    this.#isFull = true;
    this.#isScanDue = true;
    return fetched.code === tooLarge;
  }

  /** Copies leave a part of the cache for files that people read. */
  async #fetchIfRoom(path: string): ReturnType<Fetch> {
    const size = this.#sizeOf(path);
    const { placedHere = 0 } = this.#load ?? {};
    if (placedHere + size > this.#bytesMax() * copiesShare) return { isHere: false, code: tooLarge };
    const fetched = await this.#fetch(path);
    if (fetched.isHere && this.#load !== undefined) {
      this.#load = { ...this.#load, placedHere: this.#load.placedHere + size };
    }
    return fetched;
  }

  /** Finds all copies that are missing here, and how many bytes are placed here. */
  async #scan(): Promise<void> {
    this.#isScanDue = false;
    const { journal, wanted } = this.#context;
    // Files whose operations came before the rules, or before this start.
    const pending = this.#rows((after) => journal.heads.pending({ which: 'live', after, limit: rowsAtOnce }));
    for await (const { path, heads } of pending) if (heads[0]?.content !== undefined) this.#await(path);
    const bytesMax = this.#bytesMax();
    const missing = new Map<string, number>();
    const unlisted = { files: 0, bytes: 0 };
    const load = { placed: 0, placedHere: 0, staying: 0 };
    for await (const { path } of this.#rows((after) => journal.disk.remoteBelow('', after, rowsAtOnce))) {
      if (!this.#placement.isPlacedHere(path)) continue;
      const size = this.#sizeOf(path);
      if (size <= bytesMax) load.placed += size;
      if (missing.size < listedMax) missing.set(path, size);
      else {
        unlisted.files++;
        unlisted.bytes += size;
      }
    }
    for await (const { path, fingerprint } of this.#rows((after) => journal.disk.below('', after, rowsAtOnce))) {
      const size = fingerprint?.size ?? 0;
      if (this.#placement.isPlacedHere(path)) {
        load.placed += size;
        load.placedHere += size;
        // A full cache has dropped every file that it may.
      } else if (this.#isFull || wanted.mustStay(path)) load.staying += size;
    }
    this.#missing = missing;
    this.#isFull &&= missing.size > 0;
    this.#unlisted = unlisted;
    for (const path of this.#unavailable) if (!missing.has(path)) this.#unavailable.delete(path);
    this.#load = load;
  }

  /** Rows page by page: other tasks run in between. None where nothing has to be placed. */
  async *#rows<Row extends { readonly path: string }>(
    page: (after: string | undefined) => readonly Row[],
  ): AsyncIterableIterator<Row> {
    if (this.#placement.rules.areTrivial) return;
    let after: string | undefined;
    for (;;) {
      const rows = page(after);
      yield* rows;
      if (rows.length < rowsAtOnce) return;
      after = rows.at(-1)?.path;
      await pause(this.#context.clock, 0);
    }
  }

  #sizeOf(path: string): number {
    return this.#context.journal.heads.at(path)[0]?.size ?? 0;
  }
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}
