import {
  addTokenResultSchema,
  removeTokenResultSchema,
  type TokenList,
  tokenDaysMax,
  tokensSchema,
} from '@lockstep/shared/api';
import { formatAgo, formatDuration, formatItems } from '@lockstep/shared/present';
import type { Command } from 'commander';
import { findMemberFolder } from '../../member-dir/state-directory.ts';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode, UsageError } from '../exit-code.ts';
import { formatTable } from '../output/table.ts';
import { printJson, type Terminal } from '../output/terminal.ts';

const folder = ['[DIR]', "the member's folder, or one inside it"] as const;

function parseDays(text: string): number {
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= 1 && days <= tokenDaysMax) return days;
  throw new UsageError(`--days must be a whole number from 1 to ${tokenDaysMax}, not ${JSON.stringify(text)}.`);
}

/** `lockstep token`: the tokens by which scripts use the API. */
export function addTokenCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  const command = program.command('token').description('make, list and remove tokens, by which scripts use the API');
  command
    .command('add')
    .argument('<NAME>', 'what it is for')
    .argument(...folder, terminal.cwd)
    .description('make a token and print it, once')
    .option('--read-only', 'for a script that changes nothing')
    .option('--days <N>', 'the token expires after so many days; without this it does not', parseDays)
    .option('--json', 'print JSON')
    .action(async (name: string, directory: string, options: { readOnly?: true; days?: number; json?: true }) => {
      const api = await requireApi(await findMemberFolder(directory));
      const { readOnly = false, days, json } = options;
      const made = await api.post('/tokens', { name, readOnly, days }, addTokenResultSchema);
      if (json === true) printJson(terminal, made);
      else {
        terminal.print(made.token);
        const end = days === undefined ? 'until it is removed' : `for ${formatItems(days, 'day')}`;
        terminal.note(
          `It works ${end}${readOnly ? ', and changes nothing' : ''}. Keep it now: only its hash is stored, and it cannot be shown again.`,
        );
      }
      done(exitCode.done);
    });
  command
    .command('list')
    .argument(...folder, terminal.cwd)
    .description('print the tokens: what each may do, when it was made and last used, and when it expires')
    .option('--json', 'print JSON')
    .action(async (directory: string, options: { json?: true }) => {
      const api = await requireApi(await findMemberFolder(directory));
      const answer = await api.get('/tokens', tokensSchema);
      if (options.json === true) printJson(terminal, answer);
      else terminal.print(formatTokens(answer, terminal.nowMs()));
      done(exitCode.done);
    });
  command
    .command('remove')
    .argument('<NAME>', 'the name of the token')
    .argument(...folder, terminal.cwd)
    .description('remove a token: what uses it is cut off at once')
    .option('--json', 'print JSON')
    .action(async (name: string, directory: string, options: { json?: true }) => {
      const api = await requireApi(await findMemberFolder(directory));
      const result = await api.post('/tokens/remove', { name }, removeTokenResultSchema);
      if (options.json === true) printJson(terminal, result);
      else if (result.removed) terminal.print(`The token ${name} is removed.`);
      else terminal.note(`There is no token ${name}. Those that exist: lockstep token list`);
      done(result.removed ? exitCode.done : exitCode.notDone);
    });
}

/** The text of `lockstep token list`. */
export function formatTokens({ tokens }: TokenList, nowMs: number): string {
  if (tokens.length === 0) return 'There are no tokens. Make one: lockstep token add NAME';
  const rows = tokens.map(({ name, readOnly, id, since, lastUsedAt, expiresAt }) => [
    name,
    readOnly ? 'read-only' : 'full',
    `lockstep_${id}_…`,
    formatAgo(since, nowMs),
    lastUsedAt === null ? 'never' : formatAgo(lastUsedAt, nowMs),
    expiresAt === null ? 'never' : formatExpiry(expiresAt, nowMs),
  ]);
  const titles = ['name', 'may do', 'token', 'made', 'last used', 'expires'];
  return formatTable(
    titles.map((title) => ({ title })),
    rows,
  );
}

/** When something expires: `in 3 days`, or `expired 2 h ago`. A part of a minute counts as one. */
export function formatExpiry(expiresAt: number, nowMs: number): string {
  return expiresAt > nowMs
    ? `in ${formatDuration(Math.ceil((expiresAt - nowMs) / 60_000) * 60)}`
    : `expired ${formatAgo(expiresAt, nowMs)}`;
}
