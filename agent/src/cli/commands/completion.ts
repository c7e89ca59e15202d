import { Argument, type Command } from 'commander';
import { type ExitCode, exitCode } from '../exit-code.ts';
import { bashCompletion } from '../help/completion-bash.ts';
import { fishCompletion } from '../help/completion-fish.ts';
import { completedCommands } from '../help/completion-model.ts';
import { zshCompletion } from '../help/completion-zsh.ts';
import type { Terminal } from '../output/terminal.ts';

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** `lockstep completion`: prints a script for a shell, made from the definition of the commands. */
export function addCompletionCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('completion')
    .addArgument(new Argument('<SHELL>', 'the shell that is to complete').choices(Object.keys(scripts)))
    .description('print the script with which a shell completes commands, options and folders')
    .action((shell: keyof typeof scripts) => {
      terminal.print(scripts[shell](completedCommands(program)));
      done(exitCode.done);
    });
}
