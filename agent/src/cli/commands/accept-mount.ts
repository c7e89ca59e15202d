import { acceptMountResultSchema } from '@lockstep/shared/api';
import type { Command } from 'commander';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode } from '../exit-code.ts';
import { findMemberPath } from '../member-path.ts';
import { printJson, type Terminal } from '../output/terminal.ts';

/** `lockstep accept-mount`: accepts the current content of a mount point inside the folder; entries missing from it are deleted. */
export function addAcceptMountCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('accept-mount')
    .argument('<PATH>', 'a mount point inside the folder, as the problem mount-changed names it')
    .argument('[DIR]', "the member's folder, or one inside it (default: that of PATH)")
    .description(
      'accept the current content of a mount point; entries that were there before and are missing now are deleted on all members',
    )
    .option('--json', 'print JSON')
    .action(async (named: string, folder: string | undefined, options: { json?: true }) => {
      const { directory, path } = await findMemberPath(terminal.cwd, named, folder);
      const api = await requireApi(directory);
      const result = await api.post('/mounts/accept', { path }, acceptMountResultSchema);
      if (options.json === true) printJson(terminal, result);
      else terminal.print(`The content of ${result.accepted} now belongs to the folder.`);
      done(exitCode.done);
    });
}
