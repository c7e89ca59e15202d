import type { TreePage } from '@lockstep/shared/api';
import { Store } from '../../live/store.ts';
import { askApi, isUnanswered, sentenceOf } from '../../live/use-api.ts';
import { extendListing, type Listing, pageEntriesMax } from './listing.ts';

/** The minimum time between two readings of a directory that keeps changing. */
const againAfterMs = 700;

export interface DirectoryState {
  readonly listing: Listing | undefined;
  /** A sentence: the reason why there is no newer listing. */
  readonly error: string | undefined;
  /** True if there was no answer, so that the same request may succeed later. */
  readonly isUnanswered: boolean;
}

/** Reads one directory as far as the user scrolled, and again after it changed. It sends one request at a time. */
export class DirectoryReader extends Store<DirectoryState> {
  readonly #path: string;
  #wantedRows = 1;
  #wantedPath: string | undefined;
  #isStale = true;
  #isWorking = false;

  constructor(path: string) {
    super({ listing: undefined, error: undefined, isUnanswered: false });
    this.#path = path;
  }

  protected override started(): void {
    void this.#work();
  }

  protected override stopped(): void {
    // A running request completes; the loop sends no other one after it.
  }

  /** The directory may have changed. */
  refresh(): void {
    this.#isStale = true;
    void this.#work();
  }

  /** Row number `row` is about to come into sight. */
  want(row: number): void {
    this.#wantedRows = Math.max(this.#wantedRows, row + 1);
    void this.#work();
  }

  /** Reads the directory at least up to its entry at `path`. */
  seek(path: string): void {
    this.#wantedPath = path;
    void this.#work();
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    try {
      while (this.isFollowed && (this.#isStale || this.#lacksRows())) await this.#step();
    } catch (error) {
      this.set({ ...this.get(), error: sentenceOf(error), isUnanswered: isUnanswered(error) });
    }
    this.#isWorking = false;
  }

  async #step(): Promise<void> {
    const { listing } = this.get();
    if (!this.#isStale) {
      this.set({ listing: extendListing(listing, await this.#page(listing)), error: undefined, isUnanswered: false });
      return;
    }
    this.#isStale = false;
    const entries = listing?.entries.length ?? 0;
    let again: Listing | undefined;
    do again = extendListing(again, await this.#page(again));
    while (again.next !== null && again.entries.length < entries);
    this.set({ listing: again, error: undefined, isUnanswered: false });
    if (listing !== undefined) await new Promise((resolve) => setTimeout(resolve, againAfterMs));
  }

  #lacksRows(): boolean {
    const { listing } = this.get();
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
}
