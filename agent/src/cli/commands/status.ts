import type { Problem } from '@lockstep/shared';
import { type Status, statusSchema } from '@lockstep/shared/api';
import {
  cachePrefetches,
  cacheReads,
  clusterVerdict,
  formatAgo,
  formatBytes,
  formatCount,
  formatItems,
  lackingText,
  limitSentence,
  progressText,
  shortRuleText,
} from '@lockstep/shared/present';
import type { Command } from 'commander';
import { findMemberFolder } from '../../member-dir/state-directory.ts';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode } from '../exit-code.ts';
import { printable } from '../output/format.ts';
import { formatCondition, formatMembers } from '../output/member-table.ts';
import type { Paint } from '../output/terminal.ts';
import { printJson, type Terminal } from '../output/terminal.ts';

/** The problems of one code that are listed. */
const shownPerCode = 10;

const toneColours = { good: 'green', busy: 'yellow', held: 'yellow', bad: 'red' } as const;

function formatVerdict(status: Status, paint: Paint): string {
  const { tone, text } = clusterVerdict(status);
  return paint(toneColours[tone], printable(text));
}

function formatProblem(problem: Problem, status: Status, paint: Paint): string {
  const member = status.members.find(({ id }) => id === problem.member)?.name ?? problem.member;
  const about = [problem.path, member].filter((part) => part !== undefined).map(printable);
  const subject = about.length === 0 ? '' : `${about.join(', ')}: `;
  return `  ${paint('red', problem.code)}  ${subject}${printable(problem.detail)} (${formatAgo(problem.since, status.now)})`;
}

function ownCondition({ members }: Status, paint: Paint): string {
  const own = members.find(({ self }) => self);
  return own === undefined ? '' : formatCondition(own, paint);
}

function historyText({ versions, bytes, bytesMax }: NonNullable<Status['history']>): string {
  return `${formatItems(versions, 'old version')}, ${formatBytes(bytes)} of at most ${formatBytes(bytesMax)}`;
}

function roomText({ freeBytes }: Status): string {
  return freeBytes === undefined ? '' : `; ${formatBytes(freeBytes)} free`;
}

function cacheLines(cache: NonNullable<Status['cache']>): readonly string[] {
  const { usedBytes, bytesMax, remoteFiles, pins } = cache;
  const pinned = pins.map((pin) => printable(pin === '' ? 'the whole folder' : pin)).join(', ');
  return [
    `on demand  ${formatBytes(usedBytes)} of at most ${formatBytes(bytesMax)} here; ${remoteFilesText(remoteFiles)}`,
    `reads      ${cacheReads(cache)}`,
    ...(cache.prefetchedFiles === 0 ? [] : [`prefetched ${cachePrefetches(cache)}`]),
    ...(pins.length === 0 ? [] : [`pinned     ${pinned}`]),
  ];
}

function remoteFilesText(count: number): string {
  return count === 1
    ? '1 file comes from another member when it is read'
    : `${formatItems(count, 'file')} come from other members when they are read`;
}

/** The first problems of each code, and how many more there are: a full disk has one for each file. */
function problemLines(status: Status, paint: Paint): readonly string[] {
  const listed = new Map<string, number>();
  const shown = status.problems.filter(({ code }) => {
    const count = (listed.get(code) ?? 0) + 1;
    listed.set(code, count);
    return count <= shownPerCode;
  });
  const counts = Object.entries(status.problemCounts ?? Object.fromEntries(listed));
  const more = counts.flatMap(([code, count]) => {
    const left = count - Math.min(shownPerCode, listed.get(code) ?? 0);
    return left === 0 ? [] : [`  ${paint('red', code)}  and ${formatCount(left)} more: lockstep status --json`];
  });
  return [...shown.map((problem) => formatProblem(problem, status, paint)), ...more];
}

/** `lockstep status` as text. */
export function formatStatus(status: Status, paint: Paint): string {
  const { member } = status;
  const progress = status.members.find(({ self }) => self)?.progress;
  const lines = [
    `${paint('bold', member.name)}  ${ownCondition(status, paint)}`,
    `cluster    ${formatVerdict(status, paint)}`,
    `folder     ${printable(member.folder)}`,
    `holds      ${formatItems(status.files, 'file')} and ${formatItems(status.directories, 'directory', 'directories')}, ${formatBytes(status.bytes)}${roomText(status)}`,
    ...(status.cache === undefined ? [] : cacheLines(status.cache)),
    ...(status.history === undefined ? [] : [`history    ${historyText(status.history)}`]),
    ...(progress === undefined ? [] : [`arriving   ${progressText(progress)}`]),
    ...(status.limits ?? []).map((limit) => `limit      ${printable(limitSentence(limit, [limit]))}`),
    ...(status.shortRules ?? []).map((rule) => `copies     ${printable(shortRuleText(rule))}`),
    ...status.members.flatMap(({ name, lackingCopies }) =>
      lackingCopies === undefined ? [] : [`copies     ${printable(name)} ${lackingText(lackingCopies)}`],
    ),
    ...(status.pending > 0 ? [`pending    ${formatItems(status.pending, 'path')} not on this disk yet`] : []),
    ...(status.conflicts > 0 ? [`conflicts  ${formatItems(status.conflicts, 'path')} not settled yet`] : []),
    `dashboard  ${member.dashboard}`,
    '',
    formatMembers(status.members, status.now, paint),
  ];
  if (status.problemCount > 0) {
    lines.push('', paint('bold', formatItems(status.problemCount, 'problem')));
    lines.push(...problemLines(status, paint));
  }
  return lines.join('\n');
}

/** `lockstep status`: prints whether all members are in sync, and if not, why. */
export function addStatusCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('status')
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .description('print the state of this member and of the others')
    .option('--json', 'print JSON')
    .action(async (directory: string, options: { json?: true }) => {
      const api = await requireApi(await findMemberFolder(directory));
      const status = await api.get('/status', statusSchema);
      if (options.json === true) printJson(terminal, status);
      else terminal.print(formatStatus(status, terminal.paint));
      done(exitCode.done);
    });
}
