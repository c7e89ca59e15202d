import { runSeed } from './run.ts';

/** Runs the seeds that the parent process sends, one at a time, and sends back how each went. */
process.on('message', (seed: number) => {
  runSeed(seed, { tellsStory: false }).then(
    ({ violation }) => process.send?.({ seed, violation }),
    (error: unknown) => {
      // The world itself is broken: no seed can be trusted any more.
      console.error(error);
      process.exit(1);
    },
  );
});
