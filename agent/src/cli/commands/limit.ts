import { type Setting, type Settings, settingsSchema } from '@lockstep/shared/api';
import type { Command } from 'commander';
import { allowedRates, rateRules } from '../../config/rate-rules.ts';
import { findMemberFolder } from '../../member-dir/state-directory.ts';
import { type ApiClient, requireApi } from '../api-client.ts';
import { type ExitCode, exitCode, UsageError } from '../exit-code.ts';
import { printable } from '../output/format.ts';
import { printJson, type Terminal } from '../output/terminal.ts';

interface LimitOptions {
  readonly send?: string;
  readonly receive?: string;
  readonly member?: string;
  readonly json?: true;
}

/** The options, each with the setting that it changes. */
const settings = [
  ['send', 'send_limit'],
  ['receive', 'receive_limit'],
] as const;

/** The value as `config.toml` has it: a list of several rules. Throws a UsageError for a text of no rules. */
function settingValue(option: string, text: string): string | readonly string[] {
  if (!rateRules.safeParse(text).success) {
    throw new UsageError(`--${option} must be ${allowedRates}, separated by commas; it is ${JSON.stringify(text)}.`);
  }
  const rules = text.split(',').map((rule) => rule.trim());
  return rules.length === 1 ? text.trim() : rules;
}

/** Reads the settings at `path` and makes the changes that the options ask for. */
async function readChanged(api: ApiClient, path: string, options: LimitOptions): Promise<Settings> {
  const changes = settings.flatMap(([option, key]) => {
    const text = options[option];
    return text === undefined ? [] : [{ key, value: settingValue(option, text) }];
  });
  let answer = await api.get(path, settingsSchema);
  for (const change of changes) answer = await api.patch(path, change, answer.version, settingsSchema);
  return answer;
}

function limitsOf(answer: Settings): readonly Setting[] {
  return answer.settings.filter(({ key }) => settings.some(([, limit]) => limit === key));
}

/** `lockstep limit` as text: what holds now and later, and where it is set. */
export function formatLimits(limits: readonly Setting[]): string {
  return limits
    .flatMap(({ key, value, next, notes = [], source }) => {
      const rules = (of: Setting['value']): string => printable(typeof of === 'string' ? of : of.join(', '));
      const where = source.kind === 'default' ? 'the default' : source.where;
      return [
        ...notes.map((note) => printable(note)),
        `  ${key}: ${rules(value)} (${where})`,
        ...(next === undefined ? [] : [`  ${key} from the next start on: ${rules(next)}`]),
      ];
    })
    .join('\n');
}

/** `lockstep limit`: the limits of the rates of contents, and their change. */
export function addLimitCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('limit')
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .description('print or set how fast contents of files are sent and received, by hours and by member')
    .option('--send <RULES>', 'limit what this member sends: none, or rates that are separated by commas')
    .option('--receive <RULES>', 'limit what this member receives, in the same form')
    .option('--member <NAME>', 'those of another member that allows it (allow_control in its config.toml)')
    .option('--json', 'print JSON')
    .action(async (directory: string, options: LimitOptions) => {
      const { member } = options;
      const api = await requireApi(await findMemberFolder(directory));
      const path = member === undefined ? '/settings' : `/members/${encodeURIComponent(member)}/control/settings`;
      const limits = limitsOf(await readChanged(api, path, options));
      if (options.json === true) {
        const shown = limits.map(({ key, value, next, notes, warning }) => ({ key, value, next, notes, warning }));
        printJson(terminal, { limits: shown });
      } else terminal.print(formatLimits(limits));
      for (const { key, warning } of limits) {
        if (warning !== undefined) terminal.note(printable(`${key}: ${warning}`));
      }
      done(exitCode.done);
    });
}
