import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
}

/** Runs a program until it ends and returns its output. A failure contains the program's messages. */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { stdout } = await execute(program, args, {
    ...options,
    env: { ...process.env, ...options.env },
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

/** Runs a line of shell script; stops at the first command that fails. */
export function shell(cwd: string, script: string): Promise<string> {
  return run('sh', ['-euc', script], { cwd });
}

const gitSettings = {
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.org',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

/** Runs git without the settings of the user who runs the tests. */
export function git(cwd: string, ...args: readonly string[]): Promise<string> {
  return run('git', ['-c', 'init.defaultBranch=main', '-c', 'gc.auto=0', ...args], { cwd, env: gitSettings });
}
