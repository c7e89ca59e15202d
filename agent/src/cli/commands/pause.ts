import { pauseResultSchema } from '@lockstep/shared/api';
import type { Command } from 'commander';
import { findMemberFolder } from '../../member-dir/state-directory.ts';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode } from '../exit-code.ts';
import { printJson, type Terminal } from '../output/terminal.ts';

/** `lockstep pause`: the member takes no part until it is resumed, even after a restart of its agent. */
export function addPauseCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  addSwitch(program, terminal, done, {
    name: 'pause',
    description: 'exchange nothing with the other members until `lockstep resume`',
    said: 'This member is paused. Changes in its folder are journaled; the others get them after: lockstep resume',
  });
}

/** `lockstep resume`: the end of a pause. */
export function addResumeCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  addSwitch(program, terminal, done, {
    name: 'resume',
    description: 'end a pause: exchange changes with the other members again',
    said: 'This member takes part again: it and the others exchange the changes that they lack.',
  });
}

function addSwitch(
  program: Command,
  terminal: Terminal,
  done: (code: ExitCode) => void,
  { name, description, said }: { readonly name: string; readonly description: string; readonly said: string },
): void {
  program
    .command(name)
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .description(description)
    .option('--json', 'print JSON')
    .action(async (directory: string, options: { json?: true }) => {
      const api = await requireApi(await findMemberFolder(directory));
      const result = await api.post(`/${name}`, {}, pauseResultSchema);
      if (options.json === true) printJson(terminal, result);
      else terminal.print(said);
      done(exitCode.done);
    });
}
