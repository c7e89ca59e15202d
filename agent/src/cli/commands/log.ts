import { type LoggedOperation, pageItemsMax } from '@lockstep/shared/api';
import type { Command } from 'commander';
import { recordedSocketPath } from '../../member-dir/instance-lock.ts';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode, UsageError } from '../exit-code.ts';
import { followOperations } from '../followed-operations.ts';
import { findMemberPath } from '../member-path.ts';
import { type MemberSource, openMemberSource } from '../member-source.ts';
import { formatOperations, groupOperations, isWhole } from '../output/operation-line.ts';
import type { Terminal } from '../output/terminal.ts';
import { stopSignal } from '../stop-signal.ts';

interface LogOptions {
  readonly path?: string;
  readonly lines: string;
  readonly follow?: true;
  readonly each?: true;
  readonly json?: true;
}

/** The operations of one line. */
type Line = readonly LoggedOperation[];

function isSingle({ each, json }: LogOptions): boolean {
  return each === true || json === true;
}

function linesOf(operations: readonly LoggedOperation[], options: LogOptions): readonly Line[] {
  return isSingle(options) ? operations.map((operation) => [operation]) : groupOperations(operations);
}

/** The newest `count` lines, oldest first. A group is read whole, however long it is; only its part below a given path is known. */
async function newest(source: MemberSource, path: string | undefined, options: LogOptions): Promise<readonly Line[]> {
  const count = Number(options.lines);
  const pages: (readonly LoggedOperation[])[] = [];
  let before: number | undefined;
  let lines: readonly Line[] = [];
  let isEnough = count === 0;
  const isRead = (line: Line): boolean => path !== undefined || isSingle(options) || isWhole(line);
  while (!isEnough) {
    const page = await source.operations({ path, before, limit: pageItemsMax });
    pages.unshift(page.operations.toReversed());
    lines = linesOf(pages.flat(), options);
    isEnough = page.next === null || (lines.length > count && lines.slice(-count).every(isRead));
    before = page.next ?? undefined;
  }
  return count === 0 ? [] : lines.slice(-count);
}

function print(terminal: Terminal, lines: readonly Line[], { json }: LogOptions): void {
  for (const line of lines) {
    terminal.print(json === true ? JSON.stringify(line[0]) : formatOperations(line, terminal.paint));
  }
}

/** True for an operation on `path` or on a path below it. The path of one about a member is the member's name. */
function isUnder({ kind, path }: LoggedOperation, directory: string | undefined): boolean {
  return directory === undefined || (kind !== 'member' && `${path}/`.startsWith(`${directory}/`));
}

interface Followed {
  readonly directory: string;
  readonly path: string | undefined;
  readonly after: number;
}

async function follow(terminal: Terminal, { directory, path, after }: Followed, options: LogOptions): Promise<void> {
  const stop = stopSignal();
  const stopping = new AbortController();
  void stop.received.then(() => stopping.abort());
  await followOperations({
    socketPath: () => recordedSocketPath(directory),
    after,
    received: (operations) => {
      const wanted = operations.filter((operation) => isUnder(operation, path));
      print(terminal, linesOf(wanted, options), options);
    },
    interrupted: () => terminal.note('The agent does not send new operations now. This command waits for it.'),
    signal: stopping.signal,
  });
  stop.dispose();
}

async function log(terminal: Terminal, directory: string | undefined, options: LogOptions): Promise<ExitCode> {
  if (!/^[0-9]{1,9}$/.test(options.lines)) {
    throw new UsageError(`--lines must be a whole number; it is "${options.lines}".`);
  }
  const place = await findMemberPath(terminal.cwd, options.path, directory);
  const path = place.path === '' ? undefined : place.path;
  // Only a running agent journals operations that could be followed.
  if (options.follow === true) await requireApi(place.directory);
  const source = await openMemberSource(terminal, place.directory);
  let last: number;
  try {
    last = (await source.operations({ limit: 1 })).operations[0]?.row ?? 0;
    const lines = await newest(source, path, options);
    // Some may have arrived since the question for the last one.
    for (const line of lines) last = Math.max(last, line.at(-1)?.row ?? 0);
    print(terminal, lines, options);
  } finally {
    await source.close();
  }
  if (options.follow === true) await follow(terminal, { directory: place.directory, path, after: last }, options);
  return exitCode.done;
}

/** `lockstep log`: prints the operations, oldest first. */
export function addLogCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('log')
    .argument('[DIR]', "the member's folder, or one inside it (default: the current one)")
    .description('print the newest operations, the newest last')
    .option('--path <PATH>', 'only operations on this path and on paths below it')
    .option('-n, --lines <COUNT>', 'the number of lines', '50')
    .option('--follow', 'continue with new operations until Ctrl-C')
    .option('--each', 'every operation on its own line, including those of one renamed directory or unpacked archive')
    .option('--json', 'print one JSON object for each operation')
    .action(async (directory: string | undefined, options: LogOptions) => {
      done(await log(terminal, directory, options));
    });
}
