import type { LiveOperationsMessage, LoggedOperation, OperationsPage } from '@lockstep/shared/api';
import type { OperationFilter } from '../../parts/operations/operation-filter.ts';
import { OperationList } from '../../parts/operations/operation-list.ts';

/** The maximum number of operations in the feed, about fifty megabytes. */
export const feedOperationsMax = 100_000;
/** At least this many of the operations that arrive during a pause are kept. If any were dropped, the feed starts over after the pause. */
const waitingMax = 20_000;

/** The state of the feed that a view shows in addition to its items. */
export interface FeedState {
  readonly isFollowing: boolean;
  /** How many operations have arrived that are not in the list yet. */
  readonly waiting: number;
  readonly connection: 'opening' | 'live' | 'lost';
  /** `beginning`: the journal has nothing older. `full`: the feed holds as many operations as it can. */
  readonly end: 'more' | 'loading' | 'beginning' | 'full';
  readonly error: string | undefined;
}

/** A wish for the page of operations before row `before`, or for the newest page. `era`: the number of the journal that it is for. */
export interface PageWish {
  readonly for: 'page';
  readonly before: number | undefined;
  readonly era: number;
}

/** A wish for the stream of operations after row `after`, or from now on. */
export interface StreamWish {
  readonly for: 'stream';
  readonly after: number | undefined;
}

/**
 * The state machine of the feed, without a socket, a clock or a browser. Its owner reports what happened, and then grants its wishes until
 * it has none. The newest page comes first and the stream continues after it, so nothing is missed between them.
 */
export class FeedModel {
  readonly list = new OperationList(feedOperationsMax);
  #state: FeedState = { isFollowing: true, waiting: 0, connection: 'opening', end: 'more', error: undefined };
  #waiting: LoggedOperation[] = [];
  #waitingCount = 0;
  #lastRow: number | undefined;
  #era = 0;
  #isFollowed = false;
  #page: 'none' | 'wanted' | 'asked' = 'none';
  /** The stream waits until the newest page has arrived or failed. */
  #isPageFirst = false;
  #stream: 'none' | 'asked' | 'resting' = 'none';

  get state(): FeedState {
    return this.#state;
  }

  /** Whether the last granted stream is still needed; if not, the owner closes it. */
  get isStreaming(): boolean {
    return this.#stream === 'asked';
  }

  /** The next wish that was not granted yet. The owner calls this until it is undefined. */
  next(): PageWish | StreamWish | undefined {
    if (this.#page === 'wanted') {
      this.#page = 'asked';
      return { for: 'page', before: this.list.firstRow, era: this.#era };
    }
    if (!this.#isFollowed || this.#stream !== 'none' || this.#isPageFirst) return undefined;
    this.#stream = 'asked';
    return { for: 'stream', after: this.#lastRow };
  }

  /** The first view follows the feed. */
  followed(): void {
    this.#isFollowed = true;
    this.advance();
    this.#begin();
  }

  /** No view follows the feed any more: it needs no stream. */
  unfollowed(): void {
    this.#isFollowed = false;
    this.#stream = 'none';
  }

  /** Stops adding operations to the list; new ones are only counted. */
  pause(): void {
    this.#set({ isFollowing: false });
  }

  /** Adds the operations that arrived during the pause, and continues. */
  follow(): void {
    this.#set({ isFollowing: true });
    this.advance();
  }

  /**
   * Adds the operations that have arrived to the list, unless the feed is paused. The owner calls this before it renders, and the list has no
   * new line at any other time: a line that moved between the press and the release of a button could not be chosen.
   */
  advance(): void {
    if (!this.#state.isFollowing || this.#waitingCount === 0) return;
    // Operations between the list and the waiting ones were dropped, so the list starts over; older ones are read again on request.
    const beginsAgain = this.#waitingCount > this.#waiting.length;
    if (beginsAgain) this.list.clear();
    this.list.append(this.#notListed(this.#waiting));
    this.#forgetWaiting();
    this.#set({ waiting: 0, end: beginsAgain ? 'more' : this.#state.end });
  }

  setFilter(filter: OperationFilter): void {
    this.list.filter = filter;
  }

  /** Requests a page of older operations, unless one is requested already or there is none. */
  wantOlder(): void {
    if (this.#page !== 'none' || this.#state.end !== 'more') return;
    if (!this.list.isFull) this.#page = 'wanted';
    this.#set({ end: this.list.isFull ? 'full' : 'loading' });
  }

  /** A requested page has arrived. */
  gotPage({ before, era }: PageWish, { operations, next }: OperationsPage): void {
    this.#page = 'none';
    // The feed started over meanwhile: the page does not belong to it.
    if (era !== this.#era || this.list.firstRow !== before) {
      this.#set({ end: 'more' });
      if (this.#isPageFirst) this.wantOlder();
      return;
    }
    this.#isPageFirst = false;
    this.list.prepend(operations);
    this.#lastRow ??= operations[0]?.row ?? 0;
    this.#set({ end: next === null ? 'beginning' : 'more', error: undefined });
  }

  /** A requested page could not be read; `error` gives the reason as a sentence. */
  failedPage(error: string): void {
    this.#page = 'none';
    this.#isPageFirst = false;
    this.#set({ end: 'more', error });
  }

  /** The stream sent a message. */
  received(message: LiveOperationsMessage): void {
    if (message.type === 'live') {
      // The journal was lost and started over: so does the feed.
      if (message.last < (this.#lastRow ?? 0)) this.#beginAgain();
      else this.#set({ connection: 'live', error: undefined });
      this.#lastRow ??= this.#isPageFirst ? undefined : message.last;
      return;
    }
    this.#lastRow = message.operations.at(-1)?.row ?? this.#lastRow;
    this.#keepWaiting(this.#notListed(message.operations));
    // No frame comes while the page is hidden.
    if (this.#waiting.length > waitingMax) this.advance();
  }

  /** The stream ended. The feed wishes for a new one only after `rested`. */
  lost(): void {
    if (this.#stream === 'asked') this.#stream = 'resting';
    this.#set({ connection: 'lost' });
  }

  /** The delay after the loss of the stream has passed. */
  rested(): void {
    if (this.#stream !== 'resting') return;
    this.#stream = 'none';
    this.#begin();
  }

  #begin(): void {
    if (this.#lastRow !== undefined || this.#isPageFirst) return;
    this.wantOlder();
    this.#isPageFirst = this.#page !== 'none';
  }

  #beginAgain(): void {
    this.list.clear();
    this.#forgetWaiting();
    this.#lastRow = undefined;
    this.#era++;
    this.#stream = 'none';
    this.#set({ waiting: 0, isFollowing: true, end: 'more', connection: 'opening' });
    this.#begin();
  }

  /** A page that was read while the stream was already open may contain the first of its operations. */
  #notListed(operations: readonly LoggedOperation[]): readonly LoggedOperation[] {
    const listed = this.list.lastRow ?? 0;
    return operations.filter(({ row }) => row > listed);
  }

  #keepWaiting(operations: readonly LoggedOperation[]): void {
    this.#waitingCount += operations.length;
    this.#waiting.push(...operations);
    if (this.#waiting.length > 2 * waitingMax) this.#waiting = this.#waiting.slice(-waitingMax);
    this.#set({ waiting: this.#waitingCount });
  }

  #forgetWaiting(): void {
    this.#waiting = [];
    this.#waitingCount = 0;
  }

  #set(change: Partial<FeedState>): void {
    this.#state = { ...this.#state, ...change };
  }
}
