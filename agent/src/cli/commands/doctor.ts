import { formatItems } from '@lockstep/shared/present';
import type { Command } from 'commander';
import { findMemberFolder } from '../../member-dir/state-directory.ts';
import type { CheckResult, Level } from '../doctor/check-result.ts';
import { type ExitCode, exitCode } from '../exit-code.ts';
import type { Colour, Paint } from '../output/terminal.ts';
import { printJson, type Terminal } from '../output/terminal.ts';

const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const satisfies Record<Level, Colour>;

/** The results of `lockstep doctor` as text, in the order of the checks. */
export function formatResults(results: readonly CheckResult[], paint: Paint): string {
  const width = Math.max(...results.map(({ check }) => check.length));
  const indent = ' '.repeat(6 + width + 2);
  const lines = results.flatMap(({ check, level, detail, remedy }) => [
    `${paint(colours[level], level.padEnd(4))}  ${check.padEnd(width)}  ${detail}`,
    ...(remedy === undefined ? [] : [`${indent}${paint('bold', '→')} ${remedy}`]),
  ]);
  const count = (wanted: Level) => results.filter(({ level }) => level === wanted).length;
  const verdict =
    count('fail') > 0
      ? `${formatItems(count('fail'), 'failure')} and ${formatItems(count('warn'), 'warning')}.`
      : count('warn') > 0
        ? `Nothing fails; ${formatItems(count('warn'), 'warning')}.`
        : 'All is well.';
  return [...lines, '', verdict].join('\n');
}

/** `lockstep doctor`: finds what keeps this member from working, or will, and says what to do about it. */
export function addDoctorCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('doctor')
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .description('find what keeps this member from working, and say what to do about each problem')
    .option('--json', 'print JSON')
    .action(async (directory: string, options: { json?: true }) => {
      const folder = await findMemberFolder(directory);
      // Loaded here only, because no other command needs it.
      const { examine } = await import('../doctor/examine.ts');
      const results = await examine(terminal, folder);
      const failed = results.some(({ level }) => level === 'fail');
      if (options.json === true) printJson(terminal, { ok: !failed, results });
      else terminal.print(formatResults(results, terminal.paint));
      done(failed ? exitCode.notDone : exitCode.done);
    });
}
