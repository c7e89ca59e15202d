import { versionsMax } from '@lockstep/shared';
import { type PathVersion, type VersionsPage, versionsPageSchema } from '@lockstep/shared/api';
import { authorOf, formatBytes, formatNames } from '@lockstep/shared/present';
import type { Command } from 'commander';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode, UsageError } from '../exit-code.ts';
import { findMemberPath } from '../member-path.ts';
import { formatMoment, printable } from '../output/format.ts';
import { formatTable } from '../output/table.ts';
import { type Paint, printJson, type Terminal } from '../output/terminal.ts';

/** The effect of an operation, in a word. */
function deed({ kind, type, from, path, conflict, replaced }: PathVersion, asked: string): string {
  const as = path === asked ? '' : `, as ${printable(path)}`;
  if (from !== undefined) return `renamed from ${printable(from)}${as}`;
  if (conflict !== undefined) return `${conflict.version === 'kept' ? 'kept in a conflict' : 'conflict copy'}${as}`;
  if (kind === 'delete') return 'deleted';
  if (kind === 'attr') return `time or mode set${as}`;
  if (type === 'directory') return 'directory made';
  if (type === 'symlink') return `linked${as}`;
  return `${replaced === undefined ? 'written' : 'changed'}${as}`;
}

/** The places that have the content of a version. `isAnswered`: every member that may have it has answered. */
function source({ isCurrent, type, content, place, members }: PathVersion, isAnswered: boolean): string {
  const others = members.map(({ name }) => printable(name));
  if (type === 'absent') return isCurrent ? 'deleted now' : '';
  if (content === undefined) return isCurrent ? 'current version' : '';
  const here = place === null ? [] : [place === 'folder' ? 'this folder' : 'history here'];
  const holders = [...here, ...others];
  const none = isAnswered ? 'nowhere now' : 'no member that answered';
  const has = holders.length === 0 ? none : formatNames(holders);
  return isCurrent ? `current version; ${has}` : has;
}

/** `lockstep history` as text. */
export function formatHistory({ path, versions, more, silent }: VersionsPage, paint: Paint): string {
  if (versions.length === 0) return `No version of ${printable(path)} is known here: check the path.`;
  const rows = versions.map((version) => [
    formatMoment(version.at),
    printable(version.label),
    printable((version.writer ?? authorOf(version)).memberName),
    deed(version, path),
    version.size === undefined ? '' : formatBytes(version.size),
    source(version, silent.length === 0),
  ]);
  const columns = ['WHEN (UTC)', 'VERSION', 'BY', 'WHAT', 'SIZE', 'CONTENT IN'];
  const table = formatTable(
    columns.map((title) => ({ title, align: title === 'SIZE' ? 'right' : 'left' })),
    rows,
  );
  const [titles = '', ...lines] = table.split('\n');
  const notes = [
    ...(more ? ['Older versions are left out: -n sets the number.'] : []),
    ...(silent.length > 0 ? [`Not asked, or no answer: ${formatNames(silent.map(printable))}.`] : []),
  ];
  return [paint('dim', titles), ...lines, ...notes.map((note) => paint('dim', note))].join('\n');
}

interface HistoryOptions {
  readonly lines: string;
  readonly json?: true;
}

/** `lockstep history PATH`: the versions of a path, and where the content of each can be had. */
export function addHistoryCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('history')
    .argument('<PATH>', 'a file in the folder; it need not exist any more')
    .argument('[DIR]', "the member's folder, or one inside it (default: that of PATH)")
    .description('list the versions of a file, newest first, and the members that have each')
    .option('-n, --lines <COUNT>', 'the number of versions', '50')
    .option('--json', 'print JSON')
    .action(async (path: string, directory: string | undefined, options: HistoryOptions) => {
      const limit = Number(options.lines);
      if (!Number.isInteger(limit) || limit < 1 || limit > versionsMax) {
        throw new UsageError(`--lines must be a whole number from 1 to ${versionsMax}; it is "${options.lines}".`);
      }
      const place = await findMemberPath(terminal.cwd, path, directory);
      if (place.path === '') throw new UsageError('Name a file inside the folder: the folder itself has no versions.');
      const api = await requireApi(place.directory);
      const encoded = place.path.split('/').map(encodeURIComponent).join('/');
      const page = await api.get(`/versions/${encoded}?limit=${limit}`, versionsPageSchema);
      if (options.json === true) printJson(terminal, page);
      else terminal.print(formatHistory(page, terminal.paint));
      done(page.versions.length > 0 ? exitCode.done : exitCode.notDone);
    });
}
