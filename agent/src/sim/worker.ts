import { runSeed } from './run.ts';

/** A seed to run, and whether its world is one of encounters. */
export interface SeedRequest {
  readonly seed: number;
  readonly hasEncounters: boolean;
}

/** Runs the seeds that the parent process sends, one at a time, and returns the results. */
process.on('message', ({ seed, hasEncounters }: SeedRequest) => {
  runSeed(seed, { keepsStory: false, hasEncounters }).then(
    // The parent may be gone, which the next event says.
    ({ violation }) => process.send?.({ seed, violation }, undefined, undefined, () => undefined),
    (error: unknown) => {
      // The simulator itself is broken: no further result would be valid.
      console.error(error);
      process.exit(1);
    },
  );
});
// The parent has no more seeds, or was ended in the middle of one.
process.on('disconnect', () => process.exit());
