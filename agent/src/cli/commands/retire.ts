import { leaveResultSchema, removeMemberResultSchema } from '@lockstep/shared/api';
import { informedMembers } from '@lockstep/shared/present';
import type { Command } from 'commander';
import { findMemberFolder } from '../../member-dir/state-directory.ts';
import { shellWord } from '../../os/shell-word.ts';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode } from '../exit-code.ts';
import { printJson, type Terminal } from '../output/terminal.ts';

/** `lockstep leave`: retires the member. It asks for no confirmation, because it touches no file and `lockstep up --rejoin` undoes it. */
export function addLeaveCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('leave')
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .description('retire this member: the others no longer wait for it; its files stay')
    .option('--anyway', 'leave also if some files are on this member only')
    .option('--json', 'print JSON')
    .action(async (directory: string, options: { anyway?: true; json?: true }) => {
      const folder = await findMemberFolder(directory);
      const api = await requireApi(folder);
      const { told } = await api.post('/leave', { anyway: options.anyway === true }, leaveResultSchema);
      if (options.json === true) {
        printJson(terminal, { told });
      } else {
        const known = informedMembers(told, 'those that do not know it learn of it when this one is up again');
        terminal.print(
          `This member has left the cluster and is stopping. ${known} The files in ${folder} stay.\nTo join again: lockstep up --rejoin ${shellWord(folder)}`,
        );
      }
      done(exitCode.done);
    });
}

/** `lockstep remove`: retires another member whose machine is lost. Its name is the confirmation. */
export function addRemoveCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('remove')
    .argument('<MEMBER>', 'its name, or the start of its id')
    .argument('[DIR]', 'the folder of a member that takes part, or one inside it', terminal.cwd)
    .description('retire another member that is lost: no member waits for it, and it is refused if it comes back')
    .option('--undo', 'take a removed member back')
    .option('--json', 'print JSON')
    .action(async (member: string, directory: string, { undo = false, json }: { undo?: boolean; json?: true }) => {
      const api = await requireApi(await findMemberFolder(directory));
      const result = await api.post('/members/remove', { member, undo }, removeMemberResultSchema);
      if (json === true) printJson(terminal, result);
      else {
        const { name, told } = result;
        const known = informedMembers(told);
        terminal.print(
          undo
            ? `${name} is taken back: it takes part again as soon as it connects. ${known}`
            : `${name} is removed from the cluster. What only it had stays on its disk. ${known}\nTo take it back: lockstep remove --undo ${shellWord(member)}`,
        );
      }
      done(exitCode.done);
    });
}
