import type { Lab, Need } from '../labs/lab.ts';

/** The environment of a scene, from its player. */
export interface Stage {
  /** True: the scene is as short as it can be and still be meaningful. */
  readonly short: boolean;
  readonly random: () => number;
  /** The duration of scenes without a natural end. */
  readonly churnMs: number;
  /** Starts a cluster of connected members with these names. It is closed after the scene. */
  open(names: readonly string[]): Promise<Lab>;
  /** Registers a function that stops background work if the scene is interrupted or fails, before the lab is removed. */
  whenInterrupted(stop: () => Promise<unknown>): void;
  /** Reports an action. */
  did(what: string): void;
  /** Reports an observation. */
  saw(what: string): void;
}

/** Something that is done to a cluster, which must survive it; `run` throws on a failure. Tests and `npm run drill` play scenes. */
export interface Scene {
  readonly name: string;
  /** One line for `--list`. */
  readonly title: string;
  readonly needs?: Need;
  run(stage: Stage): Promise<void>;
}
