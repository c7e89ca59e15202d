import { runSeed } from './run.ts';

/** Runs the seeds that the parent process sends, one at a time, and returns the results. */
process.on('message', (seed: number) => {
  runSeed(seed, { keepsStory: false }).then(
    ({ violation }) => process.send?.({ seed, violation }),
    (error: unknown) => {
      // The simulator itself is broken: no further result would be valid.
      console.error(error);
      process.exit(1);
    },
  );
});
