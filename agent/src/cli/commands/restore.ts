import { type RestoreResult, restoreResultSchema } from '@lockstep/shared/api';
import { authorOf, formatBytes, formatItems } from '@lockstep/shared/present';
import type { Command } from 'commander';
import { parseDuration } from '../../config/quantity.ts';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode, UsageError } from '../exit-code.ts';
import { findMemberPath } from '../member-path.ts';
import { formatMoment, printable } from '../output/format.ts';
import { printJson, type Terminal } from '../output/terminal.ts';

/** A large content may have to come from another member over a slow line. */
const restoreTimeoutMs = 24 * 3_600_000;

/** `2026-11-21`, `2026-11-21 07:12` or with seconds, with a zone or in UTC. */
const timePattern = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,3})?)?)? ?(Z|[+-]\d{2}:?\d{2})?$/;

/**
 * Parses a time as `lockstep history` prints it, in UTC, or with a zone, or an age such as `2h`, as milliseconds since the epoch. A time
 * in whole seconds includes that second: lists show no fractions. Undefined for other texts.
 */
export function parseTime(text: string, nowMs: number): number | undefined {
  const age = parseDuration(text.replace(/ ago$/, ''));
  if (age !== undefined) return nowMs - age;
  const match = timePattern.exec(text.trim());
  if (match === null) return undefined;
  const [, date = '', time = '00:00', seconds = ':00', zone = 'Z'] = match;
  const parsed = Date.parse(`${date}T${time}${seconds}${zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2')}`);
  if (Number.isNaN(parsed)) return undefined;
  return seconds.includes('.') ? parsed : parsed + 999;
}

interface RestoreOptions {
  readonly at?: string;
  readonly version?: string;
  readonly json?: true;
}

function requestOf(path: string, { at, version }: RestoreOptions, nowMs: number) {
  if (at !== undefined && version !== undefined) throw new UsageError('Give either --at or --version, not both.');
  if (at === undefined) return { path, version };
  const parsed = parseTime(at, nowMs);
  if (parsed === undefined) {
    throw new UsageError(
      `--at "${at}" is no time: give it as "2026-11-21 07:12:03" (UTC), with a zone as in "2026-11-21 08:12+01:00", or as an age such as 2h.`,
    );
  }
  return { path, at: parsed };
}

function formatRestored({ path, restored, changed, below }: RestoreResult): string {
  if (below !== undefined) return formatBelow(path, below);
  if (restored === undefined) return `${printable(path)} is there again.`;
  const { size, at } = restored;
  const bytes = size === undefined ? '' : `, ${formatBytes(size)}`;
  const which = `the version of ${formatMoment(at)} UTC by ${printable(authorOf(restored).memberName)}${bytes}`;
  if (!changed) return `${printable(path)} already is ${which}: nothing was changed.`;
  return `${printable(path)} is ${which} again. The others get it like any other change.`;
}

function formatBelow(path: string, below: NonNullable<RestoreResult['below']>): string {
  const { entries, refused, refusedCount, more } = below;
  const lines = refused.map(({ path: each, reason }) => `not ${printable(each)}: ${printable(reason)}`);
  const unlisted = refusedCount - refused.length;
  if (unlisted > 0) lines.push(`not ${formatItems(unlisted, 'further entry', 'further entries')}`);
  if (entries === 0) return `Nothing that is in ${printable(path)} was deleted since then: nothing was changed.`;
  const done = `${formatItems(entries, 'deleted entry', 'deleted entries')} of ${printable(path)} put back. The others get them like any other change.`;
  return [...lines, done, ...(more ? ['There are more: run the same command again.'] : [])].join('\n');
}

/** `lockstep restore PATH`: puts an old version back, as an ordinary change. */
export function addRestoreCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('restore')
    .argument('<PATH>', 'a file or directory in the folder; it need not exist any more')
    .argument('[DIR]', "the member's folder, or one inside it (default: that of PATH)")
    .description('put an old version of a file back, or a deleted file, as an ordinary change')
    .option('--at <TIME>', 'the version that it had then: a time in UTC, with a zone, or an age such as 2h')
    .option('--version <V>', 'the version with this name, as `lockstep history` prints it')
    .option('--json', 'print JSON')
    .action(async (path: string, directory: string | undefined, options: RestoreOptions) => {
      const place = await findMemberPath(terminal.cwd, path, directory);
      if (place.path === '') throw new UsageError('Name a file inside the folder.');
      const request = requestOf(place.path, options, terminal.nowMs());
      const api = await requireApi(place.directory);
      const result = await api.post('/restore', request, restoreResultSchema, restoreTimeoutMs);
      if (options.json === true) printJson(terminal, result);
      else terminal.print(formatRestored(result));
      done(result.below !== undefined && result.below.refusedCount > 0 ? exitCode.notDone : exitCode.done);
    });
}
