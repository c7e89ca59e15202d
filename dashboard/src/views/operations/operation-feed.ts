import type { LiveOperationsMessage, LoggedOperation, OperationsPage } from '@lockstep/shared/api';
import { Store } from '../../live/store.ts';
import { askApi, sentenceOf } from '../../live/use-api.ts';
import type { OperationFilter } from './operation-filter.ts';
import { OperationList } from './operation-list.ts';

/** What the feed keeps, some fifty megabytes. */
export const feedOperationsMax = 100_000;
/** What came while the reader stands still; when there is more, the feed begins anew when he goes on. */
const waitingMax = 20_000;
/** Nobody reads more pictures than these in a second, and the page has other things to do. */
const renderIntervalMs = 100;
const connectAgainMs = 1_000;
/** The largest page that the API gives. */
const pageOperations = 1_000;

/** What a view shows of the feed besides its items. */
export interface FeedState {
  /** Changes with everything that is to be shown anew. */
  readonly version: number;
  readonly isFollowing: boolean;
  /** How many operations came since the reader stands still. */
  readonly waiting: number;
  readonly connection: 'opening' | 'live' | 'lost';
  /** There is nothing older in the journal, or the feed holds as much as it can. */
  readonly end: 'more' | 'loading' | 'beginning' | 'full';
  readonly error: string | undefined;
}

/**
 * The newest operations of the agent's journal, live. Lives outside of React, which is told at most ten times a second, on a frame,
 * that there is something new. It is connected while somebody follows it.
 */
export class OperationFeed extends Store<FeedState> {
  readonly list = new OperationList(feedOperationsMax);
  #waiting: LoggedOperation[] = [];
  #waitingCount = 0;
  #socket: WebSocket | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;
  #frame: number | undefined;
  #renderedAt = 0;
  #lastRow: number | undefined;
  #loading: Promise<void> | undefined;

  constructor() {
    super({
      version: 0,
      isFollowing: true,
      waiting: 0,
      connection: 'opening',
      end: 'more',
      error: undefined,
    });
  }

  /** Leaves the shown operations as they are; what comes is counted. */
  pause(): void {
    if (this.get().isFollowing) this.#set({ isFollowing: false });
  }

  /** Shows what came, and goes on. */
  follow(): void {
    if (this.get().isFollowing) return;
    // Some between what is shown and what came were left out: the older ones are read from the journal again when they are wanted.
    const beginsAnew = this.#waitingCount > this.#waiting.length;
    if (beginsAnew) this.list.clear();
    this.list.append(this.#waiting);
    this.#waiting = [];
    this.#waitingCount = 0;
    this.#set({ isFollowing: true, waiting: 0, end: beginsAnew ? 'more' : this.get().end });
  }

  setFilter(filter: OperationFilter): void {
    this.list.filter = filter;
    this.#set({});
  }

  /** Reads one page of older operations. Who asks while one is on its way waits for that one. */
  loadOlder(): Promise<void> {
    this.#loading ??= this.#loadOlder().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #loadOlder(): Promise<void> {
    if (this.get().end !== 'more') return;
    if (this.list.isFull) return this.#set({ end: 'full' });
    this.#set({ end: 'loading' });
    const before = this.list.firstRow;
    try {
      const query = before === undefined ? '' : `&before=${before}`;
      const page = await askApi<OperationsPage>(`/ops?limit=${pageOperations}${query}`);
      // The feed may have begun anew meanwhile.
      if (this.list.firstRow !== before) return this.#set({ end: 'more' });
      this.list.prepend(page.operations);
      this.#lastRow ??= page.operations[0]?.row ?? 0;
      this.#set({ end: page.next === null ? 'beginning' : 'more', error: undefined });
    } catch (error) {
      this.#set({ end: 'more', error: sentenceOf(error) });
    }
  }

  protected override started(): void {
    void this.#start();
  }

  /** The newest page first, then the stream from there on: so nothing is missed between them. */
  async #start(): Promise<void> {
    if (this.#lastRow === undefined) await this.loadOlder();
    if (this.isFollowed) this.#connect();
  }

  protected override stopped(): void {
    clearTimeout(this.#again);
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
  }

  #connect(): void {
    if (this.#socket !== undefined) return;
    const url = new URL('/api/v1/ops/live', location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    if (this.#lastRow !== undefined) url.searchParams.set('after', String(this.#lastRow));
    const socket = new WebSocket(url);
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      if (this.#socket === socket) this.#received(JSON.parse(String(data)));
    });
    socket.addEventListener('close', () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#set({ connection: 'lost' });
      this.#again = setTimeout(() => void this.#start(), connectAgainMs);
    });
  }

  #received(message: LiveOperationsMessage): void {
    if (message.type === 'live') {
      // The journal was lost, and begins anew: so does the feed.
      if (message.last < (this.#lastRow ?? 0)) this.#beginAnew();
      else this.#set({ connection: 'live', error: undefined });
      this.#lastRow ??= message.last;
      return;
    }
    this.#lastRow = message.operations.at(-1)?.row ?? this.#lastRow;
    // A page that was read while the stream was open already may have brought the first of them.
    const shown = this.list.lastRow ?? 0;
    const operations = message.operations.filter(({ row }) => row > shown);
    if (this.get().isFollowing) this.list.append(operations);
    else {
      this.#waitingCount += operations.length;
      this.#waiting.push(...operations);
      if (this.#waiting.length > 2 * waitingMax) this.#waiting = this.#waiting.slice(-waitingMax);
    }
    this.#scheduleRender();
  }

  #beginAnew(): void {
    this.list.clear();
    this.#waiting = [];
    this.#waitingCount = 0;
    this.#lastRow = undefined;
    this.stopped();
    this.#set({ waiting: 0, isFollowing: true, end: 'more', connection: 'opening' });
    void this.#start();
  }

  #scheduleRender(): void {
    this.#frame ??= requestAnimationFrame(this.#render);
  }

  readonly #render = (now: number): void => {
    if (now - this.#renderedAt < renderIntervalMs) {
      this.#frame = requestAnimationFrame(this.#render);
      return;
    }
    this.#frame = undefined;
    this.#renderedAt = now;
    this.#set({ waiting: this.#waitingCount });
  };

  #set(change: Partial<FeedState>): void {
    const state = this.get();
    this.set({ ...state, ...change, version: state.version + 1 });
  }
}
