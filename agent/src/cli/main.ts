import { LockstepError } from '@lockstep/shared';
import { diskError } from '../os/disk-error.ts';
import { processTerminal } from './output/terminal.ts';
import { runProgram } from './program.ts';

// `lockstep log | head` closes the pipe early, which is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

// An error in a timer or a socket has no caller that could report it. It ends the program: the state in memory can no longer be trusted,
// and a start finds everything again in the journal and the folder.
process.on('uncaughtException', (error) => {
  const known = error instanceof LockstepError ? error : diskError(error);
  console.error(known === undefined ? error : `lockstep: ${known.message}`);
  process.exit(1);
});

process.exitCode = await runProgram(process.argv.slice(2), processTerminal());
