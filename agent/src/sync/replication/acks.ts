import { ackCoalesceMs, knownCoalesceMs } from '@lockstep/shared';
import { AckTimes } from '../../core/ack-times.ts';
import { timedRangesMax } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import type { Context } from '../state/context.ts';

const retryMs = 1_000;

/** Sends acknowledgements: what this member holds, a few milliseconds after it changed, and what it knows, somewhat later. */
export class AckLoop {
  /** The times at which operations were found applied on this disk, wall clock. */
  readonly appliedAt = new AckTimes(timedRangesMax);
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #loop: TaskLoop;

  constructor(context: Context, peers: Peers) {
    this.#context = context;
    this.#peers = peers;
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#send(),
      delayMs: () => ackCoalesceMs,
      failed: (error) =>
        context.log.error({ error: String(error) }, 'sending an acknowledgement failed; it is retried'),
      retryMs,
    });
    const { made, received, applied, durable, damaged } = context.facts;
    for (const fact of [applied, durable, damaged]) fact.on(() => this.poke());
    for (const fact of [made, received]) fact.on(() => this.#loop.in(knownCoalesceMs));
    this.appliedAt.note(context.journal.applied(), context.clock.wallMs());
  }

  stop(): void {
    this.#loop.stop();
  }

  /** Requests an acknowledgement: the disk changed. */
  poke(): void {
    this.#loop.poke();
  }

  #send(): void {
    const { journal, clock } = this.#context;
    const applied = journal.applied();
    this.appliedAt.note(applied, clock.wallMs());
    this.#peers.broadcast({ type: 'ack', known: journal.log.known(), marks: journal.log.marks(), applied });
  }
}
