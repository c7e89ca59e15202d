import { pinResultSchema } from '@lockstep/shared/api';
import { formatBytes, formatItems } from '@lockstep/shared/present';
import type { Command } from 'commander';
import { requireApi } from '../../api-client.ts';
import { type ExitCode, exitCode } from '../../exit-code.ts';
import { findMemberPath } from '../../member-path.ts';
import { printable } from '../../output/format.ts';
import { printJson, type Terminal } from '../../output/terminal.ts';

interface PinResult {
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
}

/** `lockstep pin`: keeps a tree on a member that fetches contents on demand. */
export function addPinCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  add(program, terminal, done, {
    name: 'pin',
    description: 'keep a file, or all files below a directory, on this member, which fetches contents on demand',
    said: ({ path, files, bytes }) => {
      const what =
        files === 0 ? 'all of it is here' : `${formatItems(files, 'file')} with ${formatBytes(bytes)} are fetched now`;
      return `${nameOf(path)} stays on this member: ${what}.`;
    },
  });
}

/** `lockstep unpin`: the end of a pin. */
export function addUnpinCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  add(program, terminal, done, {
    name: 'unpin',
    description: 'end a pin: the files stay until there is no room for them',
    said: ({ path }) => `${nameOf(path)} may leave this member when the cache is full.`,
  });
}

function nameOf(path: string): string {
  return path === '' ? 'The whole folder' : printable(path);
}

function add(
  program: Command,
  terminal: Terminal,
  done: (code: ExitCode) => void,
  { name, description, said }: { readonly name: string; readonly description: string; said(result: PinResult): string },
): void {
  program
    .command(name)
    .argument('<PATH>', 'a path of the folder, which need not be on this disk; the folder itself for everything')
    .argument('[DIR]', "the member's folder, or one inside it (default: that of PATH)")
    .description(description)
    .option('--json', 'print JSON')
    .action(async (path: string, directory: string | undefined, { json }: { json?: true }) => {
      const place = await findMemberPath(terminal.cwd, path, directory);
      const api = await requireApi(place.directory);
      const result = await api.post(`/${name}`, { path: place.path }, pinResultSchema);
      if (json === true) printJson(terminal, result);
      else terminal.print(said(result));
      done(exitCode.done);
    });
}
