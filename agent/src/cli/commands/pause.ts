import { pauseResultSchema } from '@lockstep/shared/api';
import type { Command } from 'commander';
import { findMemberFolder } from '../../member-dir/state-directory.ts';
import { shellWord } from '../../os/shell-word.ts';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode } from '../exit-code.ts';
import { printJson, type Terminal } from '../output/terminal.ts';

/** `lockstep pause`: the member takes no part until it is resumed, even after a restart of its agent. */
export function addPauseCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  addSwitch(program, terminal, done, {
    name: 'pause',
    description: 'exchange nothing with the other members until `lockstep resume`',
    said: (name) =>
      `${name ?? 'This member'} is paused. Changes in its folder are journaled; the others get them after: ${resumeCommand(name)}`,
  });
}

/** `lockstep resume`: the end of a pause. */
export function addResumeCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  addSwitch(program, terminal, done, {
    name: 'resume',
    description: 'end a pause: exchange changes with the other members again',
    said: (name) => `${name ?? 'This member'} takes part again: it and the others exchange the changes that they lack.`,
  });
}

interface Switch {
  readonly name: string;
  readonly description: string;
  /** A sentence on the result; `name`: that of another member. */
  readonly said: (name: string | undefined) => string;
}

function resumeCommand(name: string | undefined): string {
  return name === undefined ? 'lockstep resume' : `lockstep resume --member ${shellWord(name)}`;
}

function addSwitch(
  program: Command,
  terminal: Terminal,
  done: (code: ExitCode) => void,
  { name, description, said }: Switch,
): void {
  program
    .command(name)
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .description(description)
    .option('--member <NAME>', 'do it to another member that allows it (allow_control in its config.toml)')
    .option('--json', 'print JSON')
    .action(async (directory: string, { member, json }: { member?: string; json?: true }) => {
      const api = await requireApi(await findMemberFolder(directory));
      const path = member === undefined ? `/${name}` : `/members/${encodeURIComponent(member)}/control/${name}`;
      const result = await api.post(path, {}, pauseResultSchema);
      if (json === true) printJson(terminal, result);
      else terminal.print(said(member === undefined ? undefined : result.name));
      done(exitCode.done);
    });
}
