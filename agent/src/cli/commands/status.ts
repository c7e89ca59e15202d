import type { Problem } from '@lockstep/shared';
import { type MemberReport, type Status, statusSchema } from '@lockstep/shared/api';
import type { Command } from 'commander';
import { countBeyond } from '../../core/version.ts';
import { findMemberFolder } from '../../state-directory.ts';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode } from '../exit-code.ts';
import { formatAgo, formatBytes, plural, printable } from '../format.ts';
import { formatMembers, formatState } from '../member-table.ts';
import type { Paint } from '../style.ts';
import { printJson, type Terminal } from '../terminal.ts';

function lag({ name, state, stopped, paused, behind }: MemberReport): string {
  const is = paused === true ? 'paused' : stopped === true ? 'stopped' : state;
  return behind === 0 ? `${name} is ${is}` : `${name} is ${plural(behind, 'operation')} behind (${is})`;
}

/** Who reads "synchronised" takes it for "everybody has everything": whoever is away is named. */
function agreement(others: readonly MemberReport[], paint: Paint): string {
  if (others.length === 0) return paint('green', 'synchronised; no other member is known');
  const away = others.filter(({ connected }) => !connected);
  if (away.length === 0) return paint('green', 'synchronised');
  const first = away.length === others.length ? 'no other member is up' : 'synchronised with the members that are up';
  return paint('yellow', [first, ...away.map(lag)].join('; '));
}

function verdict(status: Status, paint: Paint): string {
  if (status.paused) return paint('yellow', 'takes and gives nothing until: lockstep resume');
  const others = status.members.filter(({ self, state }) => !self && state !== 'left');
  if (status.synchronised) return agreement(others, paint);
  const parts = [
    ...(status.pending > 0 ? [`${plural(status.pending, 'path')} not on this disk yet`] : []),
    ...(status.conflicts > 0 ? [plural(status.conflicts, 'open conflict')] : []),
    ...others.filter(({ behind }) => behind > 0).map(lag),
  ];
  const failing = status.problems.filter(({ code }) => code === 'session-failing');
  if (failing.length > 0) parts.push(`sessions with ${failing.map(({ member }) => member).join(', ')} fail`);
  const ahead = others.filter(({ version }) => version !== undefined && countBeyond(version, status.version) > 0);
  for (const { name } of ahead) parts.push(`${name} knows of operations that are not here`);
  const refused = status.problems.some(({ code }) => code === 'member-refused');
  if (refused && !others.some(({ connected }) => connected))
    parts.push('every member that was reached refuses this one');
  return paint('yellow', parts.length === 0 ? 'not synchronised yet' : parts.join('; '));
}

function formatProblem(problem: Problem, status: Status, paint: Paint): string {
  const member = status.members.find(({ id }) => id === problem.member)?.name;
  const about = [problem.path === undefined ? undefined : printable(problem.path), member].filter(
    (part) => part !== undefined,
  );
  const subject = about.length === 0 ? '' : `${about.join(', ')}: `;
  return `  ${paint('red', problem.code)}  ${subject}${printable(problem.detail)} (${formatAgo(problem.since, status.now)})`;
}

/** `lockstep status` as text. */
export function formatStatus(status: Status, paint: Paint): string {
  const { member } = status;
  const lines = [
    `${paint('bold', member.name)}  ${formatState({ state: member.state, paused: status.paused, catchUp: status.catchUp }, paint)}, ${verdict(status, paint)}`,
    `folder     ${printable(member.folder)}`,
    `holds      ${plural(status.files, 'file')} and ${plural(status.directories, 'directory', 'directories')}, ${formatBytes(status.bytes)}; ${formatBytes(status.freeBytes)} free`,
    `dashboard  ${member.dashboard}`,
    '',
    formatMembers(status.members, status.now, paint),
  ];
  if (status.problemCount > 0) {
    lines.push('', paint('bold', plural(status.problemCount, 'problem')));
    lines.push(...status.problems.map((problem) => formatProblem(problem, status, paint)));
    if (status.problemCount > status.problems.length) lines.push('  …');
  }
  return lines.join('\n');
}

/** `lockstep status`: is everything the same everywhere, and if not, why. */
export function addStatusCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('status')
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .description('print how this member and the others are')
    .option('--json', 'print JSON')
    .action(async (directory: string, options: { json?: true }) => {
      const api = await requireApi(await findMemberFolder(directory));
      const status = await api.get('/status', statusSchema);
      if (options.json === true) printJson(terminal, status);
      else terminal.print(formatStatus(status, terminal.paint));
      done(exitCode.done);
    });
}
