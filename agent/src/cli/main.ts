import { runProgram } from './program.ts';
import { processTerminal } from './terminal.ts';

// `lockstep log | head` closes the pipe early: that is the reader's right and no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

process.exitCode = await runProgram(process.argv.slice(2), processTerminal());
