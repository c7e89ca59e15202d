import type { Status } from '@lockstep/shared/api';
import { EventStream } from './event-stream.ts';
import { Store } from './store.ts';

/** How often the status is asked for while nothing happens: round trips change without an event. */
const pollIntervalMs = 1_500;

/** An agent that has not answered for this long is shown as silent, though the answer may still come. */
const silentAfterMs = 2_800;

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
 * stream of live events says that something happened.
 */
export class StatusFeed extends Store<Feed> {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #silence: ReturnType<typeof setTimeout> | undefined;
  readonly #events = new EventStream(
    () => this.#schedule(gatherMs),
    // An agent that ends closes the stream first: asking shows it at once.
    () => this.#schedule(0),
  );
  #answeredAt = 0;
  #asking = false;
  #askAgain = false;

  constructor() {
    super({ status: undefined, silentSince: undefined });
  }

  protected override started(): void {
    document.addEventListener('visibilitychange', this.#visibilityChanged);
    this.#events.open();
    void this.#ask();
  }

  protected override stopped(): void {
    document.removeEventListener('visibilitychange', this.#visibilityChanged);
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.#events.close();
  }

  readonly #visibilityChanged = (): void => {
    if (document.visibilityState === 'visible') void this.#ask();
  };

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
    const silence = setTimeout(() => this.#noteSilence(), this.#patienceMs());
    this.#silence = silence;
    try {
      const response = await fetch('/api/v1/status', { signal: AbortSignal.timeout(timeoutMs) });
      if (!response.ok) throw new Error(`the agent answered ${response.status}`);
      const status: Status = await response.json();
      this.#answeredAt = performance.now();
      this.set({ status, silentSince: undefined });
      if (this.isFollowed) this.#events.open();
    } catch {
      // Whatever the reason, the agent did not answer: that is what the page says, and it asks again.
      this.#noteSilence();
    }
    clearTimeout(silence);
    this.#asking = false;
    if (!this.isFollowed) return;
    if (this.#askAgain) this.#schedule(gatherMs);
    else if (document.visibilityState === 'visible') this.#schedule(pollIntervalMs);
    this.#askAgain = false;
  }

  /** How long an answer may take before the agent counts as silent. After a pause of the page itself that pause is no silence. */
  #patienceMs(): number {
    return Math.max(silentAfterMs - pollIntervalMs, this.#answeredAt + silentAfterMs - performance.now());
  }

  #noteSilence(): void {
    if (this.get().silentSince === undefined) this.set({ ...this.get(), silentSince: Date.now() });
  }
}
