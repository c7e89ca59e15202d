import type { Context } from '../state/context.ts';

/** Name of the journal setting: a pause outlives a restart. */
const pausedSetting = 'paused';
/** Name of the journal setting with the time of the pause, in milliseconds since the epoch. */
const pausedAtSetting = 'paused-at';

/** A loop that a pause stops. */
interface Pausable {
  pause(): void;
  resume(): void;
}

interface PausedLoops {
  readonly peers: Pausable;
  readonly dialer: Pausable;
  readonly applyLoop: Pausable;
}

/**
 * Whether this member is paused. A paused member has no sessions and changes nothing in its folder. It goes on journaling local
 * changes, which the others receive when it is resumed.
 */
export class Pause {
  readonly #context: Context;
  readonly #loops: PausedLoops;

  constructor(context: Context, loops: PausedLoops) {
    this.#context = context;
    this.#loops = loops;
  }

  get isOn(): boolean {
    return this.#context.journal.settings.get(pausedSetting) === 'yes';
  }

  /** When the member was paused; undefined if it is not, or if an older version paused it. */
  get since(): number | undefined {
    const at = this.#context.journal.settings.get(pausedAtSetting);
    return this.isOn && at !== undefined ? Number(at) : undefined;
  }

  /** Stops the loops if this member was paused before its restart. Call it before they start. */
  start(): void {
    if (this.isOn) this.#hold();
  }

  /** Pauses the member; does nothing if it is already paused. `by`: the name of the other member that asked for it. */
  pause(by?: string): void {
    if (this.isOn) return;
    this.#context.journal.settings.set(pausedAtSetting, String(this.#context.clock.wallMs()));
    this.#context.journal.settings.set(pausedSetting, 'yes');
    this.#context.events.add('paused', { name: this.#context.self.name, by });
    this.#hold();
  }

  /** Resumes the member; does nothing if it is not paused. `by`: as above. */
  resume(by?: string): void {
    if (!this.isOn) return;
    this.#context.journal.settings.set(pausedSetting, 'no');
    this.#context.events.add('resumed', { name: this.#context.self.name, by });
    this.#loops.peers.resume();
    this.#loops.applyLoop.resume();
    this.#loops.dialer.resume();
  }

  #hold(): void {
    // Transfers end with their sessions: the apply loop must already know that this is no problem.
    this.#loops.applyLoop.pause();
    this.#loops.dialer.pause();
    this.#loops.peers.pause();
  }
}
