import { endSessionsResultSchema, type SessionList, sessionsSchema } from '@lockstep/shared/api';
import { formatAgo, formatNames } from '@lockstep/shared/present';
import type { Command } from 'commander';
import { findMemberFolder } from '../../member-dir/state-directory.ts';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode, UsageError } from '../exit-code.ts';
import { formatTable } from '../output/table.ts';
import { printJson, type Terminal } from '../output/terminal.ts';
import { formatExpiry } from './token.ts';

/** `lockstep dashboard sessions` and `lockstep dashboard end`: the browsers that are logged in, and logging them out. */
export function addSessionCommands(dashboard: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  dashboard
    .command('sessions')
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .description('print the browsers that are logged in: since when, from where, and when they were last used')
    .option('--json', 'print JSON')
    .action(async (directory: string, options: { json?: true }) => {
      const api = await requireApi(await findMemberFolder(directory));
      const answer = await api.get('/sessions', sessionsSchema);
      if (options.json === true) printJson(terminal, answer);
      else terminal.print(formatSessions(answer, terminal.nowMs()));
      done(exitCode.done);
    });
  dashboard
    .command('end')
    .argument('[SESSION]', 'the session, as lockstep dashboard sessions prints it; with --all the folder')
    .argument('[DIR]', "the member's folder, or one inside it")
    .description('log a browser out: its page is cut off at once')
    .option('--all', 'log all browsers out')
    .option('--json', 'print JSON')
    .action(
      async (
        first: string | undefined,
        second: string | undefined,
        options: { all?: true; json?: true },
      ): Promise<void> => {
        const isAll = options.all === true;
        if (isAll && second !== undefined) throw new UsageError('Name a session or --all, not both.');
        if (!isAll && first === undefined) {
          throw new UsageError('Name the session, as lockstep dashboard sessions prints it, or --all.');
        }
        const api = await requireApi(await findMemberFolder((isAll ? first : second) ?? terminal.cwd));
        const result = await api.post(
          '/sessions/end',
          isAll ? { all: true } : { ids: [first] },
          endSessionsResultSchema,
        );
        const { ended, unknown } = result;
        if (options.json === true) printJson(terminal, result);
        else if (unknown.length > 0) {
          terminal.note(`There is no session ${formatNames(unknown)}. Those that exist: lockstep dashboard sessions`);
        } else {
          terminal.print(`${ended === 1 ? 'One browser is' : `${ended} browsers are`} logged out.`);
        }
        done(unknown.length > 0 ? exitCode.notDone : exitCode.done);
      },
    );
}

/** The text of `lockstep dashboard sessions`. */
export function formatSessions({ sessions }: SessionList, nowMs: number): string {
  if (sessions.length === 0) return 'No browser is logged in. A link for one: lockstep dashboard';
  const ago = (moment: number | undefined): string => (moment === undefined ? 'not known' : formatAgo(moment, nowMs));
  const rows = sessions.map(({ id, browser, address, since, lastUsedAt, expiresAt }) => [
    id,
    browser ?? 'not known',
    address ?? 'not known',
    ago(since),
    ago(lastUsedAt),
    formatExpiry(expiresAt, nowMs),
  ]);
  const titles = ['session', 'browser', 'from', 'since', 'last used', 'expires'];
  return formatTable(
    titles.map((title) => ({ title })),
    rows,
  );
}
