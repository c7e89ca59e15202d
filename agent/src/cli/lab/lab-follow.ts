import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiEvent, eventsPageSchema, liveMessageSchema } from '@lockstep/shared/api';
import { recordedSocketPath } from '../../member-dir/instance-lock.ts';
import { apiClient } from '../api-client.ts';
import { readLive } from '../live-stream.ts';
import type { LabMember } from './lab-plan.ts';

/** The delay before a member that does not answer is tried again. */
const retryMs = 300;

/** The number of events before the connection that may belong to this start of the member. */
const recentEvents = 100;

/** Follows the events of one member, whichever process runs it, and reconnects when it returns. */
export class LabFollower {
  readonly #member: LabMember;
  readonly #received: (event: ApiEvent) => void;
  readonly #sinceMs: number;
  readonly #stop = new AbortController();
  #last: number | undefined;

  /** Events before `sinceMs` are skipped. */
  constructor(member: LabMember, sinceMs: number, received: (event: ApiEvent) => void) {
    this.#member = member;
    this.#sinceMs = sinceMs;
    this.#received = received;
  }

  /** Resolves after `stop`. */
  async run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#follow();
      } catch {
        // The member does not run (yet, or any more).
      }
      await sleep(retryMs, undefined, { signal }).catch(() => undefined);
    }
  }

  stop(): void {
    this.#stop.abort();
  }

  async #follow(): Promise<void> {
    const { directory } = this.#member;
    const socketPath = await recordedSocketPath(directory);
    const { last } = await apiClient(socketPath).get('/events?limit=1', eventsPageSchema);
    // A number above the last one is from a journal that was removed in between.
    const after = this.#last === undefined || this.#last > last ? Math.max(0, last - recentEvents) : this.#last;
    const { signal } = this.#stop;
    const path = `/events/live?after=${after}`;
    await readLive({ socketPath, path, received: (message) => this.#message(message), signal });
  }

  #message(received: unknown): void {
    const { data: message } = liveMessageSchema.safeParse(received);
    if (message?.type !== 'event') return;
    this.#last = message.event.number;
    if (message.event.at >= this.#sinceMs) this.#received(message.event);
  }
}
