import type { Status } from '@lockstep/shared/api';
import { EventStream } from './event-stream.ts';
import { Store } from './store.ts';

/** The interval between requests for the status without events: round trips change without an event. */
const pollIntervalMs = 1_500;

/** An agent that has not answered for this long is shown as silent, though the answer may still come. */
const silentAfterMs = 2_800;

/** The delay from an event to the next request for the status, so that one request covers several events. */
const gatherMs = 150;

/** The time limit for an answer of the agent. */
const timeoutMs = 5_000;

export interface Feed {
  /** The newest answer. Stays when the agent stops answering. */
  readonly status: Status | undefined;
  /** Since when the agent has not answered, milliseconds since the epoch; undefined while it does. */
  readonly silentSince: number | undefined;
  /** The agent answers, and this browser is not logged in. */
  readonly isLocked: boolean;
}

/**
 * The status of the agent that served the page. It is requested at intervals while the page is visible, and after each event of the live
 * stream.
 */
export class StatusFeed extends Store<Feed> {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #silence: ReturnType<typeof setTimeout> | undefined;
  readonly #events = new EventStream(
    () => this.#schedule(gatherMs),
    // An agent that ends closes the stream first: a request detects that at once.
    () => this.#schedule(0),
  );
  #answeredAt = 0;
  #asking = false;
  #askAgain = false;

  constructor() {
    super({ status: undefined, silentSince: undefined, isLocked: false });
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

  /** Schedules a request after `delayMs`, unless an earlier one is scheduled: a series of events must not delay it indefinitely. */
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
      const isLocked = response.status === 401;
      if (!response.ok && !isLocked) throw new Error(`the agent answered ${response.status}`);
      const status: Status | undefined = isLocked ? undefined : await response.json();
      this.#answeredAt = performance.now();
      this.set({ status, silentSince: undefined, isLocked });
      if (this.isFollowed && !isLocked) this.#events.open();
    } catch {
      // Whatever the reason, there is no valid answer: the page says so and asks again.
      this.#noteSilence();
    }
    clearTimeout(silence);
    this.#asking = false;
    if (!this.isFollowed) return;
    if (this.#askAgain) this.#schedule(gatherMs);
    else if (document.visibilityState === 'visible') this.#schedule(pollIntervalMs);
    this.#askAgain = false;
  }

  /** How long an answer may take before the agent counts as silent. Time in which the page itself did not ask does not count. */
  #patienceMs(): number {
    return Math.max(silentAfterMs - pollIntervalMs, this.#answeredAt + silentAfterMs - performance.now());
  }

  #noteSilence(): void {
    if (this.get().silentSince === undefined) this.set({ ...this.get(), silentSince: Date.now() });
  }
}
