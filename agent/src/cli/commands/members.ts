import { membersSchema } from '@lockstep/shared/api';
import type { Command } from 'commander';
import { findMemberFolder } from '../../member-dir/state-directory.ts';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode } from '../exit-code.ts';
import { formatMembers } from '../output/member-table.ts';
import { printJson, type Terminal } from '../output/terminal.ts';

/** `lockstep members`: prints the members, their round trips and their lag. */
export function addMembersCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('members')
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .description('print the members: state, round trip, lag')
    .option('--json', 'print JSON')
    .action(async (directory: string, options: { json?: true }) => {
      const api = await requireApi(await findMemberFolder(directory));
      const answer = await api.get('/members', membersSchema);
      if (options.json === true) printJson(terminal, answer);
      else terminal.print(formatMembers(answer.members, terminal.nowMs(), terminal.paint));
      done(exitCode.done);
    });
}
