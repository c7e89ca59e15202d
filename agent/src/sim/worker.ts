import { runSeed } from './run.ts';

/** Runs the seeds that the parent process sends, one at a time, and returns the results. */
process.on('message', (seed: number) => {
  runSeed(seed, { keepsStory: false }).then(
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
