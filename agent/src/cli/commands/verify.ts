import type { VerifyResult } from '@lockstep/shared/api';
import { formatElapsed, formatItems } from '@lockstep/shared/present';
import type { Command } from 'commander';
import { findMemberFolder } from '../../member-dir/state-directory.ts';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode } from '../exit-code.ts';
import { openMemberSource, watchSource } from '../member-source.ts';
import { printable } from '../output/format.ts';
import type { Paint } from '../output/terminal.ts';
import { printJson, type Terminal } from '../output/terminal.ts';

function section(title: string, comparison: VerifyResult['heads'], paint: Paint): readonly string[] {
  const { compared, differing, paths } = comparison;
  const counted = `${title}: ${formatItems(compared, 'path')} compared`;
  if (differing === 0) return [`${counted}, ${paint('green', 'all equal')}`];
  return [
    `${counted}, ${paint('red', `${formatItems(differing, 'path')} differ`)}`,
    ...paths.map(({ path, reason }) => `  ${printable(path)}: ${printable(reason)}`),
    ...(differing > paths.length ? ['  …'] : []),
  ];
}

function repairLines({ repaired, left, paths }: NonNullable<VerifyResult['repair']>, paint: Paint): readonly string[] {
  const counted = `Repaired: ${formatItems(repaired, 'path')}`;
  if (left === 0) return [`${counted}, ${paint('green', 'nothing is left')}`];
  return [
    `${counted}, ${paint('red', `${formatItems(left, 'path')} left`)}`,
    ...paths.map(({ path, reason }) => `  ${printable(path)}: ${printable(reason)}`),
    ...(left > paths.length ? ['  …'] : []),
  ];
}

/** `lockstep verify` as text. */
export function formatVerify(result: VerifyResult, paint: Paint): string {
  return [
    ...section('Journal replayed against its heads', result.heads, paint),
    ...section('Disk against the content ids', result.disk, paint),
    ...(result.repair === undefined ? [] : repairLines(result.repair, paint)),
    `${result.ok ? 'Everything agrees' : 'Not everything agrees'} (${formatElapsed(result.elapsedMs)}).`,
  ].join('\n');
}

/** `lockstep verify`: compares the journal with itself, and the disk with the journal. */
export function addVerifyCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('verify')
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .description('replay the journal and compare it with the heads, and the disk with its content ids')
    .option(
      '--repair',
      'fetch files that are damaged on this disk from other members, and replace wrong heads; needs a running agent',
    )
    .option('--json', 'print JSON')
    .action(async (directory: string, options: { json?: true; repair?: true }) => {
      const folder = await findMemberFolder(directory);
      const repair = options.repair === true;
      // A repair fetches from other members, which only an agent can do.
      if (repair) await requireApi(folder);
      const source = await openMemberSource(terminal, folder);
      const result = await watchSource(terminal, source, 'verify', source.verify(repair)).finally(() => source.close());
      if (options.json === true) printJson(terminal, result);
      else terminal.print(formatVerify(result, terminal.paint));
      done(result.ok ? exitCode.done : exitCode.notDone);
    });
}
