import type { Status } from '@lockstep/shared/api';

/** How often the status is asked for while nothing happens: round trips change without an event. */
const pollIntervalMs = 2_000;

/** Events are gathered for this long before the status is asked for again. */
const gatherMs = 150;

/** How long the agent may take to answer. */
const timeoutMs = 5_000;

export interface Feed {
  /** The newest answer. Stays when the agent stops answering. */
  readonly status: Status | undefined;
  /** Since when the agent has not answered, milliseconds since the epoch; undefined while it does. */
  readonly silentSince: number | undefined;
}

/**
 * Keeps the status of the agent that served the page: asked for at intervals while the page is visible, and at once when the
 * stream of live events says that something happened. Written for `useSyncExternalStore`.
 */
export class StatusFeed {
  #feed: Feed = { status: undefined, silentSince: undefined };
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #socket: WebSocket | undefined;
  #asking = false;
  #askAgain = false;
  readonly #listeners = new Set<() => void>();

  readonly get = (): Feed => this.#feed;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stop();
    };
  };

  #start(): void {
    document.addEventListener('visibilitychange', this.#visibilityChanged);
    this.#connect();
    void this.#ask();
  }

  #stop(): void {
    document.removeEventListener('visibilitychange', this.#visibilityChanged);
    clearTimeout(this.#timer);
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.#socket?.close();
    this.#socket = undefined;
  }

  readonly #visibilityChanged = (): void => {
    if (document.visibilityState === 'visible') void this.#ask();
  };

  /** The stream only says that it is worth asking. Where it breaks, the next answered poll opens it again. */
  #connect(): void {
    const url = new URL('/api/v1/events/live', location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(url);
    socket.addEventListener('message', () => this.#schedule(gatherMs));
    socket.addEventListener('close', () => {
      if (this.#socket === socket) this.#socket = undefined;
    });
    this.#socket = socket;
  }

  /** Asks after `delayMs`, or earlier where that was arranged already: a stream of events must not put it off for ever. */
  #schedule(delayMs: number): void {
    const at = performance.now() + delayMs;
    if (at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      void this.#ask();
    }, delayMs);
  }

  async #ask(): Promise<void> {
    if (this.#asking) {
      this.#askAgain = true;
      return;
    }
    this.#asking = true;
    try {
      const response = await fetch('/api/v1/status', { signal: AbortSignal.timeout(timeoutMs) });
      if (!response.ok) throw new Error(`the agent answered ${response.status}`);
      const status: Status = await response.json();
      this.#set({ status, silentSince: undefined });
      if (this.#socket === undefined && this.#listeners.size > 0) this.#connect();
    } catch {
      // Whatever the reason, the agent did not answer: that is what the page says, and it asks again.
      this.#set({ ...this.#feed, silentSince: this.#feed.silentSince ?? Date.now() });
    }
    this.#asking = false;
    if (this.#listeners.size === 0) return;
    if (this.#askAgain) this.#schedule(gatherMs);
    else if (document.visibilityState === 'visible') this.#schedule(pollIntervalMs);
    this.#askAgain = false;
  }

  #set(feed: Feed): void {
    this.#feed = feed;
    for (const listener of this.#listeners) listener();
  }
}
