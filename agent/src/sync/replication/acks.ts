import { ackCoalesceMs } from '@lockstep/shared';
import { AckTimes } from '../../core/ack-times.ts';
import { type Peers, timedRangesMax } from '../members/peers.ts';
import type { Context } from '../state/context.ts';

/** Tells the others what this member knows and holds, a few milliseconds after it changed. */
export class AckLoop {
  /** When operations were found to be on this disk, wall clock. */
  readonly appliedAt = new AckTimes(timedRangesMax);
  readonly #context: Context;
  readonly #peers: Peers;
  #armed = false;
  #stopped = false;

  constructor(context: Context, peers: Peers) {
    this.#context = context;
    this.#peers = peers;
    this.appliedAt.note(context.journal.applied(), context.clock.wallMs());
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Knowledge or disk changed. */
  poke(): void {
    if (this.#armed || this.#stopped) return;
    this.#armed = true;
    this.#context.clock.after(ackCoalesceMs, () => {
      this.#armed = false;
      if (this.#stopped) return;
      const { journal, clock } = this.#context;
      const applied = journal.applied();
      this.appliedAt.note(applied, clock.wallMs());
      this.#peers.broadcast({ type: 'ack', known: journal.known(), marks: journal.marks(), applied });
    });
  }
}
