import type { OperationsPage } from '@lockstep/shared/api';
import { closeSocket } from '../../live/event-stream.ts';
import { Store } from '../../live/store.ts';
import { askApi, sentenceOf } from '../../live/use-api.ts';
import type { OperationFilter } from '../../parts/operations/operation-filter.ts';
import { FeedModel, type FeedState, type PageWish, type StreamWish } from './feed-model.ts';

/** More updates in a second than these cannot be read, and would cost the page too much. */
const renderIntervalMs = 100;
const connectAgainMs = 1_000;
/** The largest page that the API serves. */
const pageOperations = 1_000;

/** The state that views follow: the version changes whenever there is something new to show. */
export interface FeedView extends FeedState {
  readonly version: number;
}

/**
 * The newest operations of the agent's journal, live: the browser's part of `FeedModel`, which decides. It lives outside of React, and
 * notifies it of new operations at most ten times a second, on a frame. It is connected while a view follows it.
 */
export class OperationFeed extends Store<FeedView> {
  readonly #model: FeedModel;
  #socket: WebSocket | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;
  #frame: number | undefined;
  #renderedAt = 0;

  constructor(model = new FeedModel()) {
    super({ ...model.state, version: 0 });
    this.#model = model;
  }

  get list(): FeedModel['list'] {
    return this.#model.list;
  }

  /** Stops adding operations to the list; new ones are only counted. */
  pause(): void {
    this.#model.pause();
    this.#moved();
  }

  /** Adds the operations that arrived during the pause, and continues. */
  follow(): void {
    this.#model.follow();
    this.#moved();
  }

  setFilter(filter: OperationFilter): void {
    this.#model.setFilter(filter);
    this.#moved();
  }

  /** Reads one page of older operations, unless one is requested already or there is none. */
  loadOlder(): void {
    this.#model.wantOlder();
    this.#moved();
  }

  protected override started(): void {
    this.#model.followed();
    this.#moved();
  }

  protected override stopped(): void {
    this.#model.unfollowed();
    clearTimeout(this.#again);
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
    this.#moved();
  }

  /** Grants the model's wishes and publishes its state. */
  #moved(): void {
    if (!this.#model.isStreaming) this.#disconnect();
    for (let wish = this.#model.next(); wish !== undefined; wish = this.#model.next()) {
      if (wish.for === 'page') void this.#ask(wish);
      else this.#connect(wish);
    }
    this.set({ ...this.#model.state, version: this.get().version + 1 });
  }

  async #ask(wish: PageWish): Promise<void> {
    const query = wish.before === undefined ? '' : `&before=${wish.before}`;
    try {
      this.#model.gotPage(wish, await askApi<OperationsPage>(`/ops?limit=${pageOperations}${query}`));
    } catch (error) {
      this.#model.failedPage(sentenceOf(error));
    }
    this.#moved();
  }

  #connect({ after }: StreamWish): void {
    const url = new URL('/api/v1/ops/live', location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    if (after !== undefined) url.searchParams.set('after', String(after));
    const socket = new WebSocket(url);
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      if (this.#socket !== socket) return;
      const message = JSON.parse(String(data));
      this.#model.received(message);
      if (message.type === 'live') this.#moved();
      else this.#frame ??= requestAnimationFrame(this.#render);
    });
    socket.addEventListener('close', () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#model.lost();
      this.#again = setTimeout(() => {
        this.#model.rested();
        this.#moved();
      }, connectAgainMs);
      this.#moved();
    });
  }

  #disconnect(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket !== undefined) closeSocket(socket);
  }

  readonly #render = (now: number): void => {
    if (now - this.#renderedAt < renderIntervalMs) {
      this.#frame = requestAnimationFrame(this.#render);
      return;
    }
    this.#frame = undefined;
    this.#renderedAt = now;
    this.#model.advance();
    this.#moved();
  };
}
