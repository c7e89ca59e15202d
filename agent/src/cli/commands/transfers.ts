import { setTimeout as sleep } from 'node:timers/promises';
import { type Departure, type Transfer, type Transfers, transfersSchema } from '@lockstep/shared/api';
import { changingSentence, formatBytes, formatDuration, formatItems, limitSentence } from '@lockstep/shared/present';
import type { Command } from 'commander';
import { findMemberFolder } from '../../member-dir/state-directory.ts';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode } from '../exit-code.ts';
import { printable } from '../output/format.ts';
import { formatTable } from '../output/table.ts';
import { printJson, type Terminal } from '../output/terminal.ts';

/** The interval at which a watched terminal shows the transfers again. */
const refreshMs = 500;
/** A content that has arrived is put into the folder in a moment: this many more checks find it, at most. */
const placingLooks = 10;
/** The files of one list that are shown: more do not fit on a screen. */
const filesShown = 10;
/** The members that a file comes from. */
const sourcesShown = 3;
const barColumns = 20;

const columns = [
  { title: 'FILE' },
  { title: 'MEMBER' },
  { title: 'DONE' },
  { title: '', align: 'right' },
  { title: 'SIZE', align: 'right' },
  { title: 'RATE', align: 'right' },
  { title: 'LEFT', align: 'right' },
] as const;

/** A bar of `barColumns` characters for a part of a whole. */
function bar(done: number, size: number): string {
  const filled = size === 0 ? barColumns : Math.floor((barColumns * done) / size);
  return '█'.repeat(filled) + '░'.repeat(barColumns - filled);
}

function formatLine(path: string, member: string, done: number, size: number, bytesPerSecond: number): string[] {
  const left = bytesPerSecond > 0 ? formatDuration((size - done) / bytesPerSecond) : '-';
  const share = size === 0 ? 100 : Math.floor((100 * done) / size);
  const rate = `${formatBytes(bytesPerSecond)}/s`;
  return [printable(path), member, bar(done, size), `${share} %`, formatBytes(size), rate, left];
}

function arrivingLine({ path, sources, done, size, bytesPerSecond }: Transfer): string[] {
  const names = sources.slice(0, sourcesShown).map(({ name }) => printable(name));
  const more = sources.length > sourcesShown ? ` +${sources.length - sourcesShown}` : '';
  return formatLine(path, names.length === 0 ? '-' : names.join(', ') + more, done, size, bytesPerSecond);
}

function leavingLine({ path, toName, sent, size, bytesPerSecond }: Departure): string[] {
  return formatLine(path, printable(toName), Math.min(sent, size), size, bytesPerSecond);
}

function formatList(files: readonly (readonly string[])[]): readonly string[] {
  if (files.length === 0) return [];
  const table = formatTable(columns, files.slice(0, filesShown));
  const more = files.length - filesShown;
  return more > 0 ? [table, `and ${formatItems(more, 'more file', 'more files')}`] : [table];
}

function formatTotal(
  direction: 'Arriving' | 'Leaving',
  { left, bytesPerSecond, secondsLeft }: Transfers['arriving'],
): string {
  // Members that fetch from here fetch from others too: the rate of this one does not say when they have all.
  const before = direction === 'Leaving' ? '; the others have all in' : ',';
  const time = secondsLeft === null ? '' : `${before} about ${formatDuration(secondsLeft)}`;
  return `${direction}: ${formatBytes(left)} to go at ${formatBytes(bytesPerSecond)}/s${time}.`;
}

/** True while contents are on their way to or from the member. */
export function isMoving({ arriving, leaving, transfers, departures }: Transfers): boolean {
  return arriving.left > 0 || leaving.left > 0 || transfers.length > 0 || departures.length > 0;
}

/** How often the transfers are to be shown after this answer, if no more comes; `before`: as it was before the answer. */
export function looksAfter(answer: Transfers, before: number): number {
  if (isMoving(answer)) return placingLooks + 1;
  return answer.pendingPaths.length > 0 || answer.changing.length > 0 ? Math.max(0, before - 1) : 0;
}

/** `lockstep transfers` as text. */
export function formatTransfers(answer: Transfers): string {
  const { arriving, reused, leaving, limits, transfers, departures, pending, pendingPaths, changing } = answer;
  const lines: string[] = [];
  if (arriving.left > 0 || transfers.length > 0) {
    lines.push(formatTotal('Arriving', arriving), ...formatList(transfers.map(arrivingLine)));
    for (const { path, waitsFor } of transfers.slice(0, filesShown))
      if (waitsFor !== null) lines.push(`${printable(path)}: ${printable(waitsFor)}`);
  }
  if (leaving.left > 0 || departures.length > 0)
    lines.push(formatTotal('Leaving', leaving), ...formatList(departures.map(leavingLine)));
  // A limit counts as one for a moment after the last block.
  if (isMoving(answer)) for (const limit of limits) lines.push(printable(limitSentence(limit, [limit])));
  const [waiting] = pendingPaths;
  if (waiting !== undefined) {
    const count = formatItems(pending - transfers.length, 'path');
    lines.push(`Waiting: ${count}. The first is ${printable(waiting.path)}: ${printable(waiting.reason)}`);
  }
  if (lines.length === 0) lines.push('Nothing is on its way.');
  for (const file of changing.slice(0, filesShown))
    lines.push(`Changing: ${printable(file.path)}. ${changingSentence(file)}`);
  if (changing.length > filesShown)
    lines.push(`And ${formatItems(changing.length - filesShown, 'more file keeps', 'more files keep')} changing.`);
  if (reused > 0) lines.push(`Did not have to be sent here since the start: ${formatBytes(reused)}.`);
  return lines.join('\n');
}

/** `lockstep transfers`: the contents on their way to and from this member; on a terminal until nothing is. */
export function addTransfersCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('transfers')
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .description('show what is on its way to and from this member; on a terminal until nothing is')
    .option('--once', 'print it once, also on a terminal')
    .option('--json', 'print JSON, once')
    .action(async (directory: string, options: { once?: true; json?: true }) => {
      const api = await requireApi(await findMemberFolder(directory));
      const isShownOnce = options.once === true || options.json === true || !terminal.isWatched;
      let answer = await api.get('/transfers', transfersSchema);
      try {
        for (let looks = looksAfter(answer, 0); !isShownOnce && looks > 0; looks = looksAfter(answer, looks)) {
          terminal.progress(formatTransfers(answer));
          await sleep(refreshMs);
          answer = await api.get('/transfers', transfersSchema);
        }
      } finally {
        terminal.progress(undefined);
      }
      if (options.json === true) printJson(terminal, answer);
      else terminal.print(formatTransfers(answer));
      done(exitCode.done);
    });
}
