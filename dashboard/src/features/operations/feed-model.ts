import type { LiveOperationsMessage, LoggedOperation, OperationsPage } from '@lockstep/shared/api';
import type { OperationFilter } from './operation-filter.ts';
import { OperationList } from './operation-list.ts';

/** What the feed keeps, some fifty megabytes. */
export const feedOperationsMax = 100_000;
/** What came while the reader stands still; when there is more, the feed begins anew when he goes on. */
const waitingMax = 20_000;

/** What a view shows of the feed besides its items. */
export interface FeedState {
  readonly isFollowing: boolean;
  /** How many operations came since the reader stands still. */
  readonly waiting: number;
  readonly connection: 'opening' | 'live' | 'lost';
  /** There is nothing older in the journal, or the feed holds as much as it can. */
  readonly end: 'more' | 'loading' | 'beginning' | 'full';
  readonly error: string | undefined;
}

/** A page of operations older than row `before`, or the newest. `era`: which journal it is of, counted by this page. */
export interface PageWish {
  readonly for: 'page';
  readonly before: number | undefined;
  readonly era: number;
}

/** The stream of what comes after row `after`, or after now. */
export interface StreamWish {
  readonly for: 'stream';
  readonly after: number | undefined;
}

/**
 * What the feed knows and what it needs next, without a socket, a clock or a browser. Whoever drives it tells it what happened, and then
 * grants its wishes until it has none. The newest page comes first and the stream from there on, so nothing is missed between them.
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
  /** The stream waits for the newest page, or for that to fail. */
  #isPageFirst = false;
  #stream: 'none' | 'asked' | 'resting' = 'none';

  get state(): FeedState {
    return this.#state;
  }

  /** Whether the stream that was granted last is still of use; if not, it is to be closed. */
  get isStreaming(): boolean {
    return this.#stream === 'asked';
  }

  /** What is needed now and was not asked for yet; to be called until there is nothing. */
  next(): PageWish | StreamWish | undefined {
    if (this.#page === 'wanted') {
      this.#page = 'asked';
      return { for: 'page', before: this.list.firstRow, era: this.#era };
    }
    if (!this.#isFollowed || this.#stream !== 'none' || this.#isPageFirst) return undefined;
    this.#stream = 'asked';
    return { for: 'stream', after: this.#lastRow };
  }

  /** Somebody looks at the feed, after a time when nobody did. */
  followed(): void {
    this.#isFollowed = true;
    this.#begin();
  }

  /** Nobody looks at it any more: it need not be connected. */
  unfollowed(): void {
    this.#isFollowed = false;
    this.#stream = 'none';
  }

  /** Leaves the shown operations as they are; what comes is counted. */
  pause(): void {
    this.#set({ isFollowing: false });
  }

  /** Shows what came, and goes on. */
  follow(): void {
    if (this.#state.isFollowing) return;
    // Some between what is shown and what came were left out: the older ones are read from the journal again when they are wanted.
    const beginsAnew = this.#waitingCount > this.#waiting.length;
    if (beginsAnew) this.list.clear();
    this.list.append(this.#waiting);
    this.#forgetWaiting();
    this.#set({ isFollowing: true, waiting: 0, end: beginsAnew ? 'more' : this.#state.end });
  }

  setFilter(filter: OperationFilter): void {
    this.list.filter = filter;
  }

  /** A page of older operations is wanted. Who asks while one is on its way is answered by that one. */
  wantOlder(): void {
    if (this.#page !== 'none' || this.#state.end !== 'more') return;
    if (!this.list.isFull) this.#page = 'wanted';
    this.#set({ end: this.list.isFull ? 'full' : 'loading' });
  }

  /** The page that was wished for. */
  gotPage({ before, era }: PageWish, { operations, next }: OperationsPage): void {
    this.#page = 'none';
    // The feed began anew meanwhile, and this is no part of it.
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

  /** The page that was wished for could not be had; `error` says why to a person. */
  failedPage(error: string): void {
    this.#page = 'none';
    this.#isPageFirst = false;
    this.#set({ end: 'more', error });
  }

  /** The stream said this. */
  received(message: LiveOperationsMessage): void {
    if (message.type === 'live') {
      // The journal was lost, and begins anew: so does the feed.
      if (message.last < (this.#lastRow ?? 0)) this.#beginAnew();
      else this.#set({ connection: 'live', error: undefined });
      this.#lastRow ??= this.#isPageFirst ? undefined : message.last;
      return;
    }
    this.#lastRow = message.operations.at(-1)?.row ?? this.#lastRow;
    // A page that was read while the stream was open already may have brought the first of them.
    const shown = this.list.lastRow ?? 0;
    const operations = message.operations.filter(({ row }) => row > shown);
    if (this.#state.isFollowing) this.list.append(operations);
    else this.#keepWaiting(operations);
  }

  /** The stream ended. It is not wished for again before it has rested. */
  lost(): void {
    if (this.#stream === 'asked') this.#stream = 'resting';
    this.#set({ connection: 'lost' });
  }

  /** It is long enough since the stream was lost. */
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

  #beginAnew(): void {
    this.list.clear();
    this.#forgetWaiting();
    this.#lastRow = undefined;
    this.#era++;
    this.#stream = 'none';
    this.#set({ waiting: 0, isFollowing: true, end: 'more', connection: 'opening' });
    this.#begin();
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
