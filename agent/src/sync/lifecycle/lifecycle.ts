import type { MemberState } from '@lockstep/shared';
import type { Context } from '../state/context.ts';

/**
 * Where a member is between its start and its end. Each phase is entered once, in this order; `leaving` from any of them.
 * - `listening`: what a killed run left is recorded, and connections are accepted.
 * - `greeting`: every known address is dialled once, and who answers says hello.
 * - `pulling`: what the others know and this journal does not is pulled.
 * - `scanning`: the folder is watched, and compared with the journal.
 * - `applying`: the disk is brought to what the journal said when the scan ended.
 * - `active`: it takes part, and counts as one that can give everything to a newcomer.
 * - `leaving`: it stops.
 * A pause is no phase: it holds the loops in whichever it finds them (`Pause`).
 */
const phases = ['listening', 'greeting', 'pulling', 'scanning', 'applying', 'active', 'leaving'] as const;
export type Phase = (typeof phases)[number];

const states: Readonly<Record<Exclude<Phase, 'leaving'>, MemberState>> = {
  listening: 'joining',
  greeting: 'joining',
  pulling: 'syncing',
  scanning: 'syncing',
  applying: 'syncing',
  active: 'active',
};

/** The phase of this member, and what the others are told of it. */
export class Lifecycle {
  /** What the others are told. One that is leaving is what it was. */
  state: MemberState = states.listening;
  /** When it took that state, wall clock. */
  stateSince: number;
  /** When it became active, wall clock. */
  enabledAt: number | undefined;
  #phase: Phase = 'listening';
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
    this.stateSince = context.clock.wallMs();
  }

  get phase(): Phase {
    return this.#phase;
  }

  get isLeaving(): boolean {
    return this.#phase === 'leaving';
  }

  /** False where the member is leaving by now: then nothing more is to begin. Throws for a phase that it has passed. */
  enter(phase: Exclude<Phase, 'leaving'>): boolean {
    if (this.isLeaving) return false;
    if (phases.indexOf(phase) <= phases.indexOf(this.#phase)) throw new Error(`${phase} comes before ${this.#phase}.`);
    this.#phase = phase;
    if (states[phase] !== this.state) {
      this.state = states[phase];
      this.stateSince = this.#context.clock.wallMs();
    }
    if (phase === 'active') this.enabledAt = this.stateSince;
    return true;
  }

  /** False where it is leaving already. */
  leave(): boolean {
    if (this.isLeaving) return false;
    this.#phase = 'leaving';
    this.#context.facts.leaving.tell();
    return true;
  }
}
