import type { ApplyLoop } from '../apply/apply-loop.ts';
import type { Peers } from '../members/peers.ts';
import type { Dialer } from '../replication/dialer.ts';
import type { Context } from '../state/context.ts';

/** In the journal, so that it outlives a restart. */
const pausedSetting = 'paused';

/** The loops that a pause holds. */
export interface Pausable {
  readonly peers: Peers;
  readonly dialer: Dialer;
  readonly applyLoop: ApplyLoop;
}

/**
 * Whether this member takes part. A paused one has a session with nobody and changes nothing in its folder; it goes on
 * journaling what is changed there, and the others get that when it is resumed.
 */
export class Pause {
  readonly #context: Context;
  readonly #loops: Pausable;

  constructor(context: Context, loops: Pausable) {
    this.#context = context;
    this.#loops = loops;
  }

  get isOn(): boolean {
    return this.#context.journal.setting(pausedSetting) === 'yes';
  }

  /** Holds the loops where this member was paused before it was stopped. To be called before they start. */
  start(): void {
    if (this.isOn) this.#hold();
  }

  /** Does nothing where it is paused already. */
  pause(): void {
    if (this.isOn) return;
    this.#context.journal.setSetting(pausedSetting, 'yes');
    this.#context.events.add('paused', { name: this.#context.self.name });
    this.#hold();
  }

  /** Does nothing where it is not paused. */
  resume(): void {
    if (!this.isOn) return;
    this.#context.journal.setSetting(pausedSetting, 'no');
    this.#context.events.add('resumed', { name: this.#context.self.name });
    this.#loops.peers.resume();
    this.#loops.applyLoop.resume();
    this.#loops.dialer.resume();
  }

  #hold(): void {
    // What is on its way ends with its session: by then the apply loop knows that this is no problem.
    this.#loops.applyLoop.pause();
    this.#loops.dialer.pause();
    this.#loops.peers.pause();
  }
}
