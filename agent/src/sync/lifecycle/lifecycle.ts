import type { MemberState } from '@lockstep/shared';
import type { Context } from '../state/context.ts';

/**
 * The phases of a member between its start and its end. Each is entered once, in this order; `leaving` from any of them.
 * - `listening`: changes of a killed run are recorded, and connections are accepted.
 * - `greeting`: every known address is dialled once, and reachable members send their hello.
 * - `pulling`: operations that the others know and this journal lacks are pulled.
 * - `scanning`: the folder is watched, and compared with the journal.
 * - `applying`: the heads that the journal had at the end of the scan are applied to the disk.
 * - `active`: it takes part, and can serve all operations to a newcomer.
 * - `leaving`: it stops.
 * A pause is no phase: it stops loops in any phase (`Pause`).
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

/** The phase of this member, and the state that it announces. */
export class Lifecycle {
  /** The announced state. A leaving member keeps its last one. */
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

  /** This member's data for the choice of the oldest active member. */
  get seniority() {
    const state = this.state === 'active' ? 'active' : 'syncing';
    return { id: this.#context.self.id, state, enabledAt: this.enabledAt } as const;
  }

  /** Enters a phase. False if the member is leaving: its start must not continue. Throws for a phase that has passed. */
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

  /** Begins to leave. False if the member is already leaving. */
  leave(): boolean {
    if (this.isLeaving) return false;
    this.#phase = 'leaving';
    this.#context.facts.leaving.publish();
    return true;
  }
}
