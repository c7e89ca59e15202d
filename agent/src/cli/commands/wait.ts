import { membersMax } from '@lockstep/shared';
import {
  statusSchema,
  type WaitRequest,
  type WaitResult,
  waitResultSchema,
  waitTimeoutMsMax,
} from '@lockstep/shared/api';
import { clusterVerdict, formatElapsed, formatItems } from '@lockstep/shared/present';
import type { Command } from 'commander';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode, UsageError } from '../exit-code.ts';
import { findMemberPath } from '../member-path.ts';
import { printable } from '../output/format.ts';
import { formatTable } from '../output/table.ts';
import { printJson, type Terminal } from '../output/terminal.ts';
import { watchWork } from '../output/watched-work.ts';

/** The time that the answer may take in addition to the agent's own timeout. */
const answerGraceMs = 30_000;

/** The reasons that are printed: more do not fit on a screen. */
const rowsShown = 20;

function parseFor(text: string): WaitRequest['for'] {
  if (text === 'all' || text === 'majority') return text;
  const count = Number(text);
  if (/^[0-9]+$/.test(text) && count >= 1 && count <= membersMax) return count;
  throw new UsageError(`--for must be all, majority or a number of members from 1 to ${membersMax}; it is "${text}".`);
}

function parseTimeout(text: string): number {
  const ms = Math.round(Number(text) * 1000);
  if (/^[0-9]+(\.[0-9]+)?$/.test(text) && ms <= waitTimeoutMsMax) return ms;
  throw new UsageError(`--timeout must be seconds from 0 to ${waitTimeoutMsMax / 1000}; it is "${text}".`);
}

/** The unmet condition. Enough members may hold the change while one on demand does not show it yet, or a file is to be read again. */
function neededBy({ holding, wanted }: WaitResult, counted: string): string {
  return holding < wanted ? `${counted} must have it` : 'this is still in the way';
}

/** `lockstep wait` as text. */
export function formatWait(result: WaitResult): string {
  const { copies, whole } = result;
  const counted =
    whole === undefined
      ? `${result.wanted} of ${formatItems(result.members, 'member')}`
      : `${result.wanted} of ${formatItems(whole, 'member')} with the whole folder (of ${formatItems(result.members, 'member')}; ` +
        'the rest fetch contents on demand)';
  if (result.done && copies !== undefined) {
    return (
      `Done: each file is on as many members as copies are wanted (${copies} at most), and ${formatItems(result.members, 'member')} know of ` +
      `it, after ${formatElapsed(result.elapsedMs)}.`
    );
  }
  if (result.done && result.byCopies) {
    return `Done: each file has its copies, and ${formatItems(result.members, 'member')} know of it, after ${formatElapsed(result.elapsedMs)}.`;
  }
  if (result.done) return `Done: durable on ${counted} after ${formatElapsed(result.elapsedMs)}.`;
  const rows = result.blocking
    .slice(0, rowsShown)
    .map(({ path, member, memberName, reason }) => [
      path === undefined ? '-' : printable(path),
      memberName ?? member?.slice(0, 8) ?? '-',
      printable(reason),
    ]);
  const holding = result.byCopies
    ? `${formatItems(result.holding, 'member')} of ${result.members} know of all of it, and each file must have its copies`
    : copies !== undefined
      ? `each file must be on as many members as copies are wanted (${copies} at most), and ${result.members} members must know of it`
      : `all of it is durable on ${formatItems(result.holding, 'member')}, and ${neededBy(result, counted)}`;
  const head = `Not done after ${formatElapsed(result.elapsedMs)}: ${holding}.`;
  if (rows.length === 0) return head;
  const table = formatTable([{ title: 'PATH' }, { title: 'MEMBER' }, { title: 'REASON' }], rows);
  const more = result.blocking.length > rows.length ? '\nand more: --json prints up to 100' : '';
  return `${head}\n${table}${more}`;
}

/** `lockstep wait`: waits until everything on this disk now is durable on other members. */
export function addWaitCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('wait')
    .argument('[PATH]', 'only this path and the paths below it; the folder itself for everything')
    .argument('[DIR]', "the member's folder, or one inside it (default: that of PATH)")
    .description('wait until everything that is on this disk now is durable on other members')
    .option('--for <COUNT>', 'all, majority, or a number of members, this one included', 'all')
    .option('--timeout <SECONDS>', 'give up after this long', '60')
    .option('--json', 'print JSON')
    .action(
      async (
        path: string | undefined,
        directory: string | undefined,
        options: { for: string; timeout: string; json?: true },
      ) => {
        const request = { for: parseFor(options.for), timeoutMs: parseTimeout(options.timeout) };
        const place = await findMemberPath(terminal.cwd, path, directory);
        const api = await requireApi(place.directory);
        const begunMs = terminal.nowMs();
        const waiting = api.post(
          '/wait',
          place.path === '' ? request : { ...request, path: place.path },
          waitResultSchema,
          request.timeoutMs + answerGraceMs,
        );
        const result = await watchWork(terminal, waiting, async () => {
          const { text } = clusterVerdict(await api.get('/status', statusSchema));
          return `waiting for ${formatElapsed(terminal.nowMs() - begunMs)}: ${printable(text)}`;
        });
        if (options.json === true) printJson(terminal, result);
        else terminal.print(formatWait(result));
        done(result.done ? exitCode.done : exitCode.notDone);
      },
    );
}
