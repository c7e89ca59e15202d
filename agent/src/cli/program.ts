import { LockstepError, SOFTWARE_VERSION } from '@lockstep/shared';
import { Command, CommanderError } from 'commander';
import { SettingsError } from '../config/load-config.ts';
import { diskError } from '../os/disk-error.ts';
import { addAcceptMountCommand } from './commands/accept-mount.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addConfigCommand } from './commands/config.ts';
import { addCopiesCommand } from './commands/content/copies.ts';
import { addMountCommand } from './commands/content/mount.ts';
import { addPinCommand, addUnpinCommand } from './commands/content/pin.ts';
import { addDashboardCommand } from './commands/dashboard.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addHistoryCommand } from './commands/history.ts';
import { addInitCommand } from './commands/init.ts';
import { addLimitCommand } from './commands/limit.ts';
import { addLogCommand } from './commands/log.ts';
import { addMembersCommand } from './commands/members.ts';
import { addNotifyCommand } from './commands/notify.ts';
import { addPauseCommand, addResumeCommand } from './commands/pause.ts';
import { addReplayCommand } from './commands/replay.ts';
import { addRestoreCommand } from './commands/restore.ts';
import { addLeaveCommand, addRemoveCommand } from './commands/retire.ts';
import { addStatusCommand } from './commands/status.ts';
import { addTokenCommand } from './commands/token.ts';
import { addTransfersCommand } from './commands/transfers.ts';
import { addUpCommand } from './commands/up.ts';
import { addVerifyCommand } from './commands/verify.ts';
import { addWaitCommand } from './commands/wait.ts';
import { addWhyCommand } from './commands/why.ts';
import { type ExitCode, exitCode, UsageError } from './exit-code.ts';
import { addCommandHelp } from './help/help-text.ts';
import type { Terminal } from './output/terminal.ts';

const examples = `
DIR, the last argument of every command, is the member's folder or any folder inside it, by default the current one.

Exit codes: 0 done, 1 not done, 2 wrong use.

Examples:
  lockstep init ~/shared --name ant   make ~/shared the folder of member ant
  lockstep up ~/shared                run its agent
  lockstep status ~/shared            its state, and that of the others
  lockstep wait --for majority        wait until everything here is safe on a majority`;

const commands = [
  addInitCommand,
  addUpCommand,
  addStatusCommand,
  addMembersCommand,
  addTransfersCommand,
  addLimitCommand,
  addLogCommand,
  addWhyCommand,
  addHistoryCommand,
  addRestoreCommand,
  addWaitCommand,
  addReplayCommand,
  addVerifyCommand,
  addDashboardCommand,
  addTokenCommand,
  addDoctorCommand,
  addAcceptMountCommand,
  addMountCommand,
  addPinCommand,
  addUnpinCommand,
  addCopiesCommand,
  addNotifyCommand,
  addPauseCommand,
  addResumeCommand,
  addLeaveCommand,
  addRemoveCommand,
  addConfigCommand,
  addCompletionCommand,
];

/** The `lockstep` program with all its commands; `done` gets the exit code of the one that ran. */
export function buildProgram(terminal: Terminal, done: (code: ExitCode) => void): Command {
  const program = new Command('lockstep')
    .description('Keeps one folder the same on every machine of a small group.')
    .version(SOFTWARE_VERSION)
    // `restore` has an option `--version` of its own.
    .enablePositionalOptions()
    .helpCommand(true)
    .showHelpAfterError('(for more, run lockstep --help)')
    .addHelpText('after', examples)
    .configureOutput({
      writeOut: (text) => terminal.print(text.replace(/\n$/, '')),
      writeErr: (text) => terminal.note(text.replace(/\n$/, '')),
    })
    .exitOverride();
  for (const add of commands) add(program, terminal, done);
  addCommandHelp(program);
  return program;
}

/** Runs `lockstep` with these arguments (without the program's name) and returns the exit code. */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = exitCode.done;
  try {
    await buildProgram(terminal, (result) => {
      code = result;
    }).parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    // Commander has printed its message; --help and --version also end this way.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.wrongUse;
    if (error instanceof UsageError || error instanceof SettingsError) {
      terminal.note(`lockstep: ${error.message}`);
      return exitCode.wrongUse;
    }
    if (error instanceof LockstepError) {
      terminal.note(`lockstep: ${error.message}`);
      return exitCode.notDone;
    }
    const failed = diskError(error);
    if (failed === undefined) throw error;
    terminal.note(`lockstep: ${failed.message}`);
    return exitCode.notDone;
  }
}
