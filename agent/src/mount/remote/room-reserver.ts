import { setTimeout as delay } from 'node:timers/promises';
import type { MountError } from '../errno.ts';
import type { Soon } from '../ports/access.ts';
import type { PublishedFile, RemoteFiles, Room, RoomRequest } from './remote-files.ts';

/** The room that is reserved beyond the need, so that not every write or new file asks the agent. The steps grow with the reserved bytes. */
const spareBytes = 1_048_576;
/** The agent must know of a file of this size before it journals it. */
const largeBytes = 262_144;
const stepShare = 1 / 4;
const stepBytesMax = 67_108_864;
const spareLastsMs = 1_000;
/** Published small files are reported to the agent together, after this time: until then it may count their bytes twice. */
const togetherMs = 50;
/** How soon an agent that has ended is asked again, and for how long a write waits for it: programs get an error within 10 s. */
const againMs = 200;
const agentMsMax = 7_000;

/**
 * Reserves room in the cache of a member on demand for the drafts of this mount; the agent keeps it in a `DraftRoom`. Each draft takes a
 * part of it as it grows. The agent frees it when this process ends in any way.
 */
export class RoomReserver {
  readonly #files: Pick<RemoteFiles, 'openRoom'>;
  #room: Promise<Room> | undefined;
  /** Bytes that drafts have taken, and those of published ones that the agent has not journaled yet. */
  #neededBytes = 0;
  #reservedBytes = 0;
  /** Bytes that the agent counts as files by now. */
  #journaledBytes = 0;
  /** Published files that were not reported to the agent yet. */
  #published: PublishedFile[] = [];
  readonly #settling = new Set<Promise<void>>();
  /** The last question to the agent: each waits for the one before. */
  #asking: Promise<unknown> = Promise.resolve();
  #trimming: ReturnType<typeof setTimeout> | undefined;
  #reporting: ReturnType<typeof setTimeout> | undefined;
  #isEnded = false;
  /** The file that took room last. */
  #lastPath = '';

  constructor(files: Pick<RemoteFiles, 'openRoom'>) {
    this.#files = files;
  }

  /** Takes `bytes` for a draft of the file at `path`. Throws ENOSPC if there is no room. */
  take(path: string, bytes: number): Soon<void> {
    if (this.#neededBytes + bytes > this.#reservedBytes) return this.#next(() => this.#takeMore(path, bytes));
    this.#neededBytes += bytes;
  }

  /** A draft does not need `bytes` any more. */
  giveBack(bytes: number): void {
    this.#neededBytes -= bytes;
    const spare = this.#reservedBytes - this.#neededBytes;
    if (spare > 2 * this.#spareMax()) void this.#next(() => this.#lower(this.#neededBytes + this.#spareMax()));
    this.#trimming ??= setTimeout(() => {
      this.#trimming = undefined;
      void this.#next(() => this.#lower(this.#neededBytes));
    }, spareLastsMs).unref();
  }

  /** A draft is in the folder. Its room is given back when the agent counts it as a file. */
  published(file: PublishedFile): void {
    this.#published.push(file);
    if (file.bytes >= largeBytes) this.#reportPublished();
    else this.#reporting ??= setTimeout(() => this.#reportPublished(), togetherMs).unref();
  }

  #reportPublished(): void {
    clearTimeout(this.#reporting);
    this.#reporting = undefined;
    if (this.#published.length === 0) return;
    const settling = this.#settle(this.#published).finally(() => this.#settling.delete(settling));
    this.#published = [];
    this.#settling.add(settling);
  }

  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#trimming);
    clearTimeout(this.#reporting);
    this.#room?.then(
      (room) => room.end(),
      () => undefined,
    );
  }

  #spareMax(): number {
    return Math.max(spareBytes, Math.min(stepBytesMax, Math.floor(this.#neededBytes * stepShare)));
  }

  #next<Result>(ask: () => Promise<Result>): Promise<Result> {
    const asked = this.#asking.then(ask);
    this.#asking = asked.catch(() => undefined);
    return asked;
  }

  async #takeMore(path: string, bytes: number): Promise<void> {
    this.#lastPath = path;
    const untilMs = performance.now() + agentMsMax;
    while (this.#neededBytes + bytes > this.#reservedBytes) {
      this.#reportPublished();
      const settling = [...this.#settling];
      const needed = this.#neededBytes + bytes;
      try {
        await this.#set({ path, bytes: needed, wished: needed + this.#spareMax() });
      } catch (error) {
        const { code } = error as MountError;
        if (code === 'ENOSPC' && settling.length > 0) {
          // A file that was just published cannot be dropped until it is journaled.
          await Promise.all(settling);
        } else if (code !== 'ENOSPC' && performance.now() < untilMs) {
          // An agent that starts again is back in a moment.
          await delay(againMs);
        } else throw error;
      }
    }
    this.#neededBytes += bytes;
  }

  async #lower(bytes: number): Promise<void> {
    if (bytes >= this.#reservedBytes) return;
    // The room that is given back must not be taken meanwhile.
    this.#reservedBytes = bytes;
    await this.#set({ bytes: 0, wished: bytes }).catch(() => undefined);
  }

  async #set(request: Omit<RoomRequest, 'journaled'>): Promise<void> {
    for (let isAgain = false; ; isAgain = true) {
      this.#room ??= this.#files.openRoom(() => this.#forgotten());
      const journaled = this.#journaledBytes;
      this.#journaledBytes = 0;
      try {
        const reserved = await (await this.#room).set({ ...request, journaled });
        // The answer includes files that were journaled meanwhile.
        this.#reservedBytes = reserved - this.#journaledBytes;
        return;
      } catch (error) {
        const { code } = error as MountError;
        if (code !== 'ENOSPC') this.#room = undefined;
        // The agent that had the room has ended.
        if (isAgain || code !== 'ENOENT') throw error;
      }
    }
  }

  /** The next agent must know of the drafts, too. */
  #forgotten(): void {
    this.#room = undefined;
    this.#reservedBytes = 0;
    this.#journaledBytes = 0;
    if (this.#isEnded || this.#neededBytes === 0) return;
    setTimeout(() => {
      if (this.#isEnded || this.#room !== undefined) return;
      const [path, bytes] = [this.#lastPath, this.#neededBytes];
      this.#next(() => this.#set({ path, bytes, wished: bytes })).catch(() => this.#forgotten());
    }, againMs).unref();
  }

  async #settle(files: readonly PublishedFile[]): Promise<void> {
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const room = this.#room;
    try {
      await (await room)?.published(files);
    } catch {
      // An agent that has ended reads the folder when it starts.
      this.giveBack(bytes);
      return;
    }
    this.#neededBytes -= bytes;
    if (room !== this.#room) return;
    this.#reservedBytes -= bytes;
    this.#journaledBytes += bytes;
    this.giveBack(0);
  }
}
