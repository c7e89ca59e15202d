import type { TreePage } from '@lockstep/shared/api';
import { askApi, sentenceOf } from '../../live/use-api.ts';
import { extendListing, type Listing, pageEntriesMax } from './listing.ts';

/** The least time between two readings of a directory that keeps changing. */
const againAfterMs = 700;

export interface DirectoryState {
  readonly listing: Listing | undefined;
  /** A sentence: why there is no newer one. */
  readonly error: string | undefined;
}

/**
 * Reads one directory, as far as somebody scrolled, and again after it changed. One request at a time. Written for
 * `useSyncExternalStore`.
 */
export class DirectoryReader {
  readonly #path: string;
  #state: DirectoryState = { listing: undefined, error: undefined };
  #wantedRows = 1;
  #wantedPath: string | undefined;
  #isStale = true;
  #isWorking = false;
  readonly #listeners = new Set<() => void>();

  constructor(path: string) {
    this.#path = path;
  }

  readonly get = (): DirectoryState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    void this.#work();
    return () => {
      this.#listeners.delete(listener);
    };
  };

  /** It may have changed. */
  refresh(): void {
    this.#isStale = true;
    void this.#work();
  }

  /** Row number `row` is about to be seen. */
  want(row: number): void {
    this.#wantedRows = Math.max(this.#wantedRows, row + 1);
    void this.#work();
  }

  /** The entry at `path`, of this directory, is to be shown: everything up to it is read. */
  seek(path: string): void {
    this.#wantedPath = path;
    void this.#work();
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    try {
      while (this.#listeners.size > 0 && (this.#isStale || this.#lacksRows())) await this.#step();
    } catch (error) {
      this.#set({ ...this.#state, error: sentenceOf(error) });
    }
    this.#isWorking = false;
  }

  async #step(): Promise<void> {
    const { listing } = this.#state;
    if (!this.#isStale) {
      this.#set({ listing: extendListing(listing, await this.#page(listing)), error: undefined });
      return;
    }
    this.#isStale = false;
    const entries = listing?.entries.length ?? 0;
    let again: Listing | undefined;
    do again = extendListing(again, await this.#page(again));
    while (again.next !== null && again.entries.length < entries);
    this.#set({ listing: again, error: undefined });
    if (listing !== undefined) await new Promise((resolve) => setTimeout(resolve, againAfterMs));
  }

  #lacksRows(): boolean {
    const { listing } = this.#state;
    if (listing === undefined || listing.next === null) return false;
    return listing.entries.length < this.#wantedRows || this.#lacksWanted(listing);
  }

  #lacksWanted({ entries }: Listing): boolean {
    if (this.#wantedPath !== undefined && entries.some(({ path }) => path === this.#wantedPath)) {
      this.#wantedPath = undefined;
    }
    return this.#wantedPath !== undefined;
  }

  #page(before: Listing | undefined): Promise<TreePage> {
    const query = new URLSearchParams({ path: this.#path, limit: String(pageEntriesMax) });
    if (before !== undefined && before.next !== null) query.set('after', before.next);
    return askApi<TreePage>(`/tree?${query}`);
  }

  #set(state: DirectoryState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
