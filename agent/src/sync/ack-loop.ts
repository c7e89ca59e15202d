import { ackCoalesceMs } from '@lockstep/shared';
import type { Context } from './context.ts';
import type { Peers } from './peers.ts';

/** Tells the others what this member knows and holds, a few milliseconds after it changed. */
export class AckLoop {
  readonly #context: Context;
  readonly #peers: Peers;
  #armed = false;
  #stopped = false;

  constructor(context: Context, peers: Peers) {
    this.#context = context;
    this.#peers = peers;
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
      const { journal } = this.#context;
      this.#peers.broadcast({ type: 'ack', known: journal.known(), applied: journal.applied() });
    });
  }
}
