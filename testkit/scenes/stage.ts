import type { Lab, Need } from '../labs/lab.ts';

/** What a drill is given by whoever runs it. */
export interface Stage {
  /** True: as short as it still shows something. */
  readonly short: boolean;
  readonly random: () => number;
  /** How long the drills without a natural end go on. */
  readonly churnMs: number;
  /** A cluster with members of these names, connected. It is closed after the drill. */
  open(names: readonly string[]): Promise<Lab>;
  /** What goes on by itself is stopped so when somebody interrupts the drill, before what it works on is removed. */
  whenInterrupted(stop: () => Promise<unknown>): void;
  /** Says what was done. */
  did(what: string): void;
  /** Says what was seen. */
  saw(what: string): void;
}

/** Something that must be survived. A drill that fails throws. */
export interface Drill {
  readonly name: string;
  /** One line for `--list`. */
  readonly title: string;
  readonly needs?: Need;
  run(stage: Stage): Promise<void>;
}
