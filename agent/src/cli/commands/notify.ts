import { type Notices, type NoticeTest, noticesSchema, noticeTestSchema } from '@lockstep/shared/api';
import { formatAgo, formatDuration, formatNames } from '@lockstep/shared/present';
import type { Command } from 'commander';
import { findMemberFolder } from '../../member-dir/state-directory.ts';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode } from '../exit-code.ts';
import { printJson, type Terminal } from '../output/terminal.ts';

/** A webhook has 10 s and a command 30 s. */
const testTimeoutMs = 60_000;

const nowhere =
  'No person is told: config.toml names no notify_webhook and no notify_command. Set one, and start the agent again.';

/** `lockstep notify`: where notices go, or with `--test` whether they arrive. */
export function addNotifyCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  program
    .command('notify')
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .description('show where people are told when something needs them; with --test, send a test there')
    .option('--test', 'send a test notice by the webhook and the command of the settings')
    .option('--json', 'print JSON')
    .action(async (directory: string, options: { test?: true; json?: true }) => {
      const api = await requireApi(await findMemberFolder(directory));
      if (options.test === true) {
        const result = await api.post('/notices/test', {}, noticeTestSchema, testTimeoutMs);
        if (options.json === true) printJson(terminal, result);
        else for (const line of formatTest(result)) terminal.print(line);
        const arrived = result.attempts.length > 0 && result.attempts.every(({ ok }) => ok);
        done(arrived ? exitCode.done : exitCode.notDone);
        return;
      }
      const notices = await api.get('/notices', noticesSchema);
      if (options.json === true) printJson(terminal, notices);
      else for (const line of formatNotices(notices, terminal.nowMs())) terminal.print(line);
      done(exitCode.done);
    });
}

/** The lines of `lockstep notify --test`. */
export function formatTest({ attempts }: NoticeTest): readonly string[] {
  if (attempts.length === 0) return [nowhere];
  return attempts.map(({ target, ok, text }) => `The ${target} ${ok ? 'took the test' : 'failed'}: ${text}`);
}

/** The lines of `lockstep notify`. */
export function formatNotices({ targets, about, afterMs }: Notices, nowMs: number): readonly string[] {
  if (targets.length === 0) return [nowhere];
  const kinds = formatNames(
    about.map((kind) => (kind === 'down' ? `down for ${formatDuration(afterMs / 1_000)}` : kind)),
  );
  return [
    ...targets.map(({ target, what, last }) => {
      const state =
        last === undefined ? 'nothing was sent since the start' : `${formatAgo(last.at, nowMs)}: ${last.text}`;
      return `${target}  ${what}  ${state}`;
    }),
    `People are told about: ${kinds}. Try it: lockstep notify --test`,
  ];
}
