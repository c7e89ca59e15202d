import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { loginLinkSchema } from '@lockstep/shared/api';
import type { Command } from 'commander';
import { passwordLengthMin, setPassword } from '../../member-dir/password-file.ts';
import { findMemberFolder } from '../../member-dir/state-directory.ts';
import { requireApi } from '../api-client.ts';
import { type ExitCode, exitCode, UsageError } from '../exit-code.ts';
import { printJson, type Terminal } from '../output/terminal.ts';
import { addSessionCommands } from './dashboard-sessions.ts';

/** The program that opens a link in the browser of this session; undefined if no browser can be shown here. */
function opener({ env }: Terminal): string | undefined {
  if (process.platform === 'darwin') return 'open';
  return env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : undefined;
}

/** Resolves with whether `program` opened the link. */
function open(program: string, url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, [url], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

/** `lockstep dashboard`: a link that logs a browser in. */
export function addDashboardCommand(program: Command, terminal: Terminal, done: (code: ExitCode) => void): void {
  const command = program
    .command('dashboard')
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .description('print a link that logs one browser in to the dashboard, and open it')
    .option('--no-open', 'print the link only')
    .option('--json', 'print JSON, and open nothing')
    .action(async (directory: string, options: { open: boolean; json?: true }) => {
      const api = await requireApi(await findMemberFolder(directory));
      const link = await api.post('/login-link', {}, loginLinkSchema);
      if (options.json === true) {
        printJson(terminal, link);
      } else {
        terminal.print(link.url);
        const minutes = Math.round((link.expiresAt - terminal.nowMs()) / 60_000);
        terminal.note(`It logs one browser in, once, within ${minutes} minutes.`);
        const program = options.open ? opener(terminal) : undefined;
        if (program !== undefined && !(await open(program, link.url))) {
          terminal.note(`No browser could be opened: ${program} is not installed. Open the link yourself.`);
        }
      }
      done(exitCode.done);
    });
  addSessionCommands(command, terminal, done);
  command
    .command('password')
    .argument('[DIR]', "the member's folder, or one inside it", terminal.cwd)
    .description(
      'set the password for browsers, which an address other than loopback needs; reads it from the standard input',
    )
    .action(async (directory: string) => {
      const folder = await findMemberFolder(directory);
      await setPassword(folder, await readPassword(terminal));
      terminal.print('The password is set. Browsers that are logged in stay so.');
      done(exitCode.done);
    });
}

/** Reads a new password: twice and unseen from a terminal, otherwise the first line of the input. */
async function readPassword(terminal: Terminal): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, written) => written() });
  const isTyped = process.stdin.isTTY === true;
  const lines = createInterface({ input: process.stdin, output: silent, terminal: isTyped });
  const typed = lines[Symbol.asyncIterator]();
  const read = async (prompt: string): Promise<string> => {
    if (isTyped) terminal.note(prompt);
    const { value } = await typed.next();
    return value ?? '';
  };
  try {
    const password = await read(`New password, at least ${passwordLengthMin} characters (it is not shown):`);
    if ([...password].length < passwordLengthMin) {
      throw new UsageError(`The password must have at least ${passwordLengthMin} characters.`);
    }
    if (isTyped && (await read('Once more:')) !== password) throw new UsageError('The two passwords differ.');
    return password;
  } finally {
    lines.close();
  }
}
