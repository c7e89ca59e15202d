import type { Lab, Need } from '../labs/lab.ts';

/** What a scene is given by whoever plays it. */
export interface Stage {
  /** True: as short as it still shows something. */
  readonly short: boolean;
  readonly random: () => number;
  /** How long the scenes without a natural end go on. */
  readonly churnMs: number;
  /** A cluster with members of these names, connected. It is closed after the scene. */
  open(names: readonly string[]): Promise<Lab>;
  /** What goes on by itself is stopped so when the scene is interrupted or fails, before what it works on is removed. */
  whenInterrupted(stop: () => Promise<unknown>): void;
  /** Says what was done. */
  did(what: string): void;
  /** Says what was seen. */
  saw(what: string): void;
}

/** Something that is done to a cluster and must be survived: what fails throws. Two play them, tests and `npm run drill`. */
export interface Scene {
  readonly name: string;
  /** One line for `--list`. */
  readonly title: string;
  readonly needs?: Need;
  run(stage: Stage): Promise<void>;
}
