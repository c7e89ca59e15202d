import type { Cache } from '../cache/cache.ts';
import type { Context } from '../state/context.ts';
import type { FileArrival } from './file-arrival.ts';

/** The end of a prefetch. `taken`: a reader asked for the file meanwhile. */
export type Prefetched = 'here' | 'taken' | 'no-room' | 'failed';

/** `taken`: it is a reader's fetch now. `abandoned`: its room is needed, and it ends. */
type State = 'open' | 'taken' | 'abandoned';

interface Prefetch {
  readonly isHere: Promise<boolean>;
  readonly now: { state: State };
  giveRoomBack(): void;
}

/** The fetches of files that no reader asked for. They give way to readers: only free room is used, and is given back when a reader needs it. */
export class Prefetches {
  readonly #context: Context;
  readonly #arrival: FileArrival;
  readonly #cache: Cache;
  readonly #open = new Map<string, Prefetch>();
  files = 0;
  bytes = 0;

  constructor(context: Context, parts: { readonly arrival: FileArrival; readonly cache: Cache }) {
    this.#context = context;
    this.#arrival = parts.arrival;
    this.#cache = parts.cache;
    this.#cache.crowded.on(() => this.#abandon());
  }

  /** Brings a remote file to this disk, if there is free room for it. */
  async begin(path: string): Promise<Prefetched> {
    const size = this.#arrival.head(path)?.size ?? 0;
    if (this.#open.has(path)) return 'taken';
    const reserved = this.#cache.reserveFree(path, size);
    if (reserved === undefined) return 'no-room';
    const release = this.#context.wanted.prefetch(path);
    const now: { state: State } = { state: 'open' };
    const arrival = this.#arrival.untilHere(path, () => now.state === 'abandoned');
    const isHere = arrival.then((failure) => failure === undefined);
    this.#open.set(path, { isHere, now, giveRoomBack: reserved.end });
    try {
      if (!(await isHere)) return now.state === 'abandoned' ? 'no-room' : 'failed';
      if (now.state === 'taken') return 'taken';
      this.files++;
      this.bytes += size;
      return 'here';
    } finally {
      this.#open.delete(path);
      release();
      reserved.end();
    }
  }

  /** Makes the prefetch of the file that of a reader, if one is under way. Resolves with whether the file is here then. */
  async take(path: string): Promise<boolean> {
    const prefetch = this.#open.get(path);
    if (prefetch === undefined || prefetch.now.state === 'abandoned') return false;
    prefetch.now.state = 'taken';
    const release = this.#context.wanted.demand(path);
    try {
      if (!(await prefetch.isHere)) return false;
      this.#cache.used(path);
      return true;
    } finally {
      release();
    }
  }

  #abandon(): void {
    for (const prefetch of this.#open.values()) {
      if (prefetch.now.state !== 'open') continue;
      prefetch.now.state = 'abandoned';
      prefetch.giveRoomBack();
    }
    this.#arrival.endPrefetches();
  }
}
