import { setTimeout as sleep } from 'node:timers/promises';
import { type LoggedOperation, pageItemsMax } from '@lockstep/shared/api';
import type { Command } from 'commander';
import { type ApiClient, requireApi } from '../api-client.ts';
import { type ExitCode, exitCode, UsageError } from '../exit-code.ts';
import { findMemberPath } from '../member-path.ts';
import { askOperations, type MemberSource, openMemberSource } from '../member-source.ts';
import { formatOperations, groupOperations } from '../operation-line.ts';
import { stopSignal } from '../stop-signal.ts';
import type { Terminal } from '../terminal.ts';

/** The interval at which `--follow` asks for new operations. */
const followIntervalMs = 250;

interface LogOptions {
  readonly path?: string;
  readonly lines: string;
  readonly follow?: true;
  readonly each?: true;
  readonly json?: true;
}

/** The newest `count` operations, oldest first. */
async function newest(
  source: MemberSource,
  path: string | undefined,
  count: number,
): Promise<readonly LoggedOperation[]> {
  const found: LoggedOperation[] = [];
  let before: number | undefined;
  while (found.length < count) {
    const limit = Math.min(pageItemsMax, count - found.length);
    const page = await source.operations({ path, before, limit });
    found.push(...page.operations);
    if (page.next === null) break;
    before = page.next;
  }
  return found.reverse();
}

function print(terminal: Terminal, operations: readonly LoggedOperation[], options: LogOptions): void {
  if (options.json === true) {
    for (const operation of operations) terminal.print(JSON.stringify(operation));
    return;
  }
  const groups = options.each === true ? operations.map((operation) => [operation]) : groupOperations(operations);
  for (const group of groups) terminal.print(formatOperations(group, terminal.paint));
}

async function follow(terminal: Terminal, api: ApiClient, path: string | undefined, from: number, options: LogOptions) {
  const signal = stopSignal();
  let stopped = false;
  void signal.received.then(() => {
    stopped = true;
  });
  let after = from;
  while (!stopped) {
    const page = await askOperations(api, { path, after, limit: pageItemsMax });
    print(terminal, page.operations, options);
    after = page.operations.at(-1)?.row ?? after;
    if (page.next === null) await sleep(followIntervalMs);
  }
  signal.dispose();
}

async function log(terminal: Terminal, directory: string | undefined, options: LogOptions): Promise<ExitCode> {
  if (!/^[0-9]{1,9}$/.test(options.lines)) {
    throw new UsageError(`--lines must be a whole number; it is "${options.lines}".`);
  }
  const place = await findMemberPath(terminal.cwd, options.path, directory);
  const path = place.path === '' ? undefined : place.path;
  // Only a running agent journals operations that could be followed.
  const api = options.follow === true ? await requireApi(place.directory) : undefined;
  const source = await openMemberSource(terminal, place.directory);
  let last: number;
  try {
    const operations = await newest(source, path, Number(options.lines));
    print(terminal, operations, options);
    last = operations.at(-1)?.row ?? (await newest(source, undefined, 1)).at(-1)?.row ?? 0;
  } finally {
    await source.close();
  }
  if (api !== undefined) await follow(terminal, api, path, last, options);
  return exitCode.done;
}

/** `lockstep log`: prints the operations, oldest first. */
export function addLogCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('log')
    .argument('[DIR]', "the member's folder, or one inside it (default: the current one)")
    .description('print the newest operations, the newest last')
    .option('--path <PATH>', 'only operations on this path and on paths below it')
    .option('-n, --lines <COUNT>', 'the number of operations', '50')
    .option('--follow', 'continue with new operations until Ctrl-C')
    .option('--each', 'every operation on its own line, including those of one renamed directory or unpacked archive')
    .option('--json', 'print one JSON object for each operation')
    .action(async (directory: string | undefined, options: LogOptions) => {
      done(await log(terminal, directory, options));
    });
}
