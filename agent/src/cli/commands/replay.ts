import { resolve } from 'node:path';
import type { ReplayResult } from '@lockstep/shared/api';
import { formatBytes, formatElapsed, formatItems } from '@lockstep/shared/present';
import type { Command } from 'commander';
import { memberFolderAbove } from '../../member-dir/folder-nesting.ts';
import { findMemberFolder } from '../../member-dir/state-directory.ts';
import { type ExitCode, exitCode, UsageError } from '../exit-code.ts';
import { openMemberSource, watchSource } from '../member-source.ts';
import { printable } from '../output/format.ts';
import { printJson, type Terminal } from '../output/terminal.ts';

/** `lockstep replay` as text. */
export function formatReplay(result: ReplayResult, into: string): string {
  const counts = [
    formatItems(result.files, 'file'),
    formatItems(result.directories, 'directory', 'directories'),
    formatItems(result.symlinks, 'link'),
  ].join(', ');
  const head = `Rebuilt ${counts} (${formatBytes(result.bytes)}) in ${printable(into)} in ${formatElapsed(result.elapsedMs)}.`;
  if (result.missing.length === 0) return head;
  const lines = result.missing.map(({ path, reason }) => `  ${printable(path)}: ${printable(reason)}`);
  return [head, `${formatItems(result.missing.length, 'entry', 'entries')} could not be rebuilt:`, ...lines].join('\n');
}

/** Rejects a target inside a member's folder: the rebuilt files would be new ones there, sent to all members. */
async function refuseMemberFolder(into: string): Promise<void> {
  const member = await memberFolderAbove(into);
  if (member === undefined) return;
  throw new UsageError(
    `--into ${into} lies inside ${member}, which is a member's folder. Choose a directory outside it.`,
  );
}

/** `lockstep replay --into DIR`: rebuilds the folder from the operation log alone. */
export function addReplayCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('replay')
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .requiredOption('--into <DIR>', 'an empty directory, or one that does not exist yet')
    .description(
      'rebuild the folder in an empty directory from the operation log, with content from any member that has it',
    )
    .option('--json', 'print JSON')
    .action(async (directory: string, options: { into: string; json?: true }) => {
      const folder = await findMemberFolder(directory);
      const into = resolve(terminal.cwd, options.into);
      await refuseMemberFolder(into);
      const source = await openMemberSource(terminal, folder);
      const result = await watchSource(terminal, source, 'replay', source.replay(into)).finally(() => source.close());
      if (options.json === true) printJson(terminal, result);
      else terminal.print(formatReplay(result, into));
      done(result.missing.length === 0 ? exitCode.done : exitCode.notDone);
    });
}
