import { type OperationReport, type PathReport, pathReportSchema } from '@lockstep/shared/api';
import {
  authorOf,
  conditionWords,
  copiesSentence,
  formatAgo,
  formatItems,
  formatNames,
} from '@lockstep/shared/present';
import type { Command } from 'commander';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode, UsageError } from '../exit-code.ts';
import { findMemberPath } from '../member-path.ts';
import { printable } from '../output/format.ts';
import { describeOperation } from '../output/operation-line.ts';
import type { Paint } from '../output/terminal.ts';
import { printJson, type Terminal } from '../output/terminal.ts';

function summary(report: PathReport): string {
  if (report.ignored) return 'is kept out by a rule of .lockstepignore';
  if (!report.known) {
    if (report.changing) return 'is not known yet: this member has not read it since it changed';
    return report.problem === null
      ? 'is not known: it is not in this folder, and no member has reported it'
      : 'is left alone: it is not replicated';
  }
  if (report.heads.length > 1) return `has ${report.heads.length} versions in conflict`;
  if (report.pending) return 'is not on this disk yet';
  if (report.remote) {
    if (report.holders.some(({ holds, condition }) => holds && condition === 'active')) {
      return 'is fetched from another member when it is read';
    }
    const had = report.holders.flatMap((holder) => (holder.had ? [holder.name] : []));
    const last = had.length === 0 ? '' : `: ${formatNames(had)} had it when last connected`;
    return `is not on this disk, and no member that is up has it${last}`;
  }
  const state = report.heads[0]?.kind === 'delete' ? 'has been removed' : 'is on this disk';
  if (report.changing) return `${state}, and may have changed since: this member has not read it yet`;
  if (report.behind > 0)
    return `${state} by what this member knows: it lacks ${formatItems(report.behind, 'operation')}`;
  if (hearsNoOther(report)) return `${state} as far as this member knows: it hears no other member`;
  return report.heads[0]?.kind === 'delete' ? state : `${state} as the cluster knows it`;
}

/** True when the member has a version that the others may have replaced: none of them is heard, directly or by way of another one. */
function hearsNoOther({ holders }: PathReport): boolean {
  const others = holders.filter(({ condition }) => condition !== 'left');
  const heard = others.filter(({ condition }) => ['joining', 'syncing', 'active', 'cut-off'].includes(condition));
  return others.length > 1 && heard.length < 2;
}

/** The time at which the content was written. An operation that settled a conflict repeats it later. */
function writtenAt({ conflict, writer, at }: OperationReport): number {
  return conflict === undefined ? at : (writer?.at ?? at);
}

/** `lockstep why` as text. */
export function formatWhy(report: PathReport, nowMs: number, paint: Paint): string {
  const names = new Map(report.holders.map(({ member, name }) => [member, name]));
  const lines = [`${paint('bold', printable(report.path))} ${summary(report)}`];
  const section = (title: string, items: readonly string[]): void => {
    if (items.length > 0) lines.push('', paint('bold', title), ...items.map((item) => `  ${item}`));
  };
  section(
    report.heads.length > 1 ? 'Versions, the current one first' : 'Version',
    report.heads.map(
      (head) => `${authorOf(head).memberName} ${describeOperation(head)}, ${formatAgo(writtenAt(head), nowMs)}`,
    ),
  );
  section(
    'Held by',
    report.holders.map(
      ({ name, condition, holds, onDemand, unknown, had }) =>
        `${holds ? paint('green', 'yes') : paint('yellow', unknown ? '?  ' : 'no ')}  ${name} (${conditionWords(condition)}${onDemand ? ', on demand' : ''})${had ? ', had it when last connected' : ''}`,
    ),
  );
  section(
    'Waits for',
    report.waitsFor.map(({ member, reason }) => {
      const name = member === undefined ? undefined : (names.get(member) ?? member.slice(0, 8));
      return name === undefined ? printable(reason) : `${name}: ${printable(reason)}`;
    }),
  );
  section('Copies', report.copies === undefined ? [] : [printable(copiesSentence(report.copies))]);
  section('Problem', report.problem === null ? [] : [printable(report.problem.detail)]);
  section(
    'Newest operations',
    report.log.map(
      (entry) => `${authorOf(entry).memberName} ${describeOperation(entry)}, ${formatAgo(writtenAt(entry), nowMs)}`,
    ),
  );
  return lines.join('\n');
}

/** `lockstep why PATH`: prints what this member knows of a path. */
export function addWhyCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('why')
    .argument('<PATH>', 'a file or directory in the folder; it need not exist')
    .argument('[DIR]', "the member's folder, or one inside it (default: that of PATH)")
    .description('print what this member knows of a path: its versions, the members that have it, what it waits for')
    .option('--json', 'print JSON')
    .action(async (path: string, directory: string | undefined, options: { json?: true }) => {
      const place = await findMemberPath(terminal.cwd, path, directory);
      if (place.path === '')
        throw new UsageError('Name a path inside the folder; `lockstep status` reports on the whole folder.');
      const api = await requireApi(place.directory);
      const encoded = place.path.split('/').map(encodeURIComponent).join('/');
      const report = await api.get(`/paths/${encoded}`, pathReportSchema);
      if (options.json === true) printJson(terminal, report);
      else terminal.print(formatWhy(report, terminal.nowMs(), terminal.paint));
      done(exitCode.done);
    });
}
