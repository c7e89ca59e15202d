import { membersMax } from '@lockstep/shared';
import { type CopiesReport, copiesReportSchema } from '@lockstep/shared/api';
import { formatItems, lackingText, shortRuleText } from '@lockstep/shared/present';
import type { Command } from 'commander';
import { findMemberFolder } from '../../../member-dir/state-directory.ts';
import { requireApi } from '../../api-client.ts';
import { type ExitCode, exitCode, UsageError } from '../../exit-code.ts';
import { printable } from '../../output/format.ts';
import { printJson, type Terminal } from '../../output/terminal.ts';

interface CopiesOptions {
  readonly remove?: true;
  readonly dir?: string;
  readonly json?: true;
}

/** `lockstep copies` as text. */
export function formatCopies({ rules, members }: CopiesReport): string {
  const general = rules.find(({ pattern }) => pattern === '');
  const lines = [
    ...rules.filter(({ pattern }) => pattern !== ''),
    { pattern: '', copies: general?.copies ?? 'all' },
  ].map(({ pattern, copies }) => {
    const on = copies === 'all' ? 'all members with the whole folder' : `at least ${formatItems(copies, 'member')}`;
    return `${pattern === '' ? (rules.length > 1 ? 'all other files' : 'all files') : printable(pattern)}: on ${on}`;
  });
  const able = members.filter(({ counts }) => counts).length;
  for (const { pattern, copies } of rules) {
    if (copies === 'all' || copies <= able) continue;
    lines.push(`${shortRuleText({ pattern: printable(pattern), wanted: copies, able })}.`);
  }
  for (const { name, counts, lacking, paths = [], onDemand, roomBytes = 0 } of members) {
    if (!counts) {
      const why =
        onDemand && roomBytes === 0
          ? 'it has not told yet how much room it has.'
          : 'it was not heard for long, and its copies are made elsewhere where that is possible.';
      lines.push(`${printable(name)} does not count now: ${why}`);
    }
    if (lacking === undefined) continue;
    lines.push(`${printable(name)} ${lackingText(lacking)}.`, ...paths.map((path) => `  ${printable(path)}`));
    if (paths.length > 0 && lacking.files > paths.length) lines.push(`  and ${lacking.files - paths.length} more`);
  }
  return lines.join('\n');
}

/** `lockstep copies`: on at least how many members the contents of files are kept. */
export function addCopiesCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('copies')
    .argument(
      '[N]',
      'the number of members, or all for all that have the whole folder; without it the rules are printed',
    )
    .argument(
      '[PATTERN]',
      'the files, as a line of .lockstepignore names them (default: all that no other rule is for)',
    )
    .description('print or set on at least how many members the contents of files are kept')
    .option('--remove', 'remove the rule for PATTERN; give it in place of N')
    .option('--dir <DIR>', "the member's folder, or one inside it (default: the present one)")
    .option('--json', 'print JSON')
    .action(async (first: string | undefined, second: string | undefined, options: CopiesOptions) => {
      const api = await requireApi(await findMemberFolder(options.dir ?? terminal.cwd));
      const change = changeOf(first, second, options);
      const report =
        change === undefined
          ? await api.get('/copies', copiesReportSchema)
          : await api.post('/copies', change, copiesReportSchema);
      if (options.json === true) printJson(terminal, report);
      else terminal.print(formatCopies(report));
      done(exitCode.done);
    });
}

/** The change that the arguments ask for; undefined if they ask for none. Throws a UsageError if they make no sense. */
function changeOf(
  first: string | undefined,
  second: string | undefined,
  { remove }: CopiesOptions,
): { readonly pattern: string; readonly copies: number | 'all' | null } | undefined {
  if (remove) {
    if (second !== undefined) throw new UsageError('--remove takes a pattern and no number.');
    return { pattern: first ?? '', copies: null };
  }
  if (first === undefined) return undefined;
  const copies = first === 'all' ? first : Number(first);
  if (copies !== 'all' && (!/^\d+$/.test(first) || copies < 1 || copies > membersMax)) {
    throw new UsageError(
      `The number of copies is ${JSON.stringify(first)}: write a whole number from 1 to ${membersMax}, or all.`,
    );
  }
  return { pattern: second ?? '', copies };
}
