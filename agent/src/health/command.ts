import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import type { Delivery, Target } from './delivery.ts';

/** The time that a command may run. */
const timeoutMs = 30_000;

/** The end of its error output that is kept for a person. */
const errorCharactersMax = 400;

/** A target that runs a program for each delivery: no shell, the delivery in the environment and as JSON on its standard input. */
export function commandTarget([program = '', ...args]: readonly string[]): Target {
  const what = basename(program);
  return {
    name: 'command',
    what,
    deliver: (delivery, stopping) =>
      new Promise((resolve, reject) => {
        const child = spawn(program, args, {
          stdio: ['pipe', 'ignore', 'pipe'],
          env: { ...process.env, ...environmentOf(delivery) },
          // A group of its own, so that the time limit ends what it started as well.
          detached: true,
        });
        let said = '';
        let isLate = false;
        const timer = setTimeout(() => {
          isLate = true;
          endGroup(child.pid);
        }, timeoutMs);
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          said = (said + text).slice(-errorCharactersMax);
        });
        // A program need not read its input.
        child.stdin.on('error', () => undefined);
        child.stdin.end(`${JSON.stringify(delivery)}\n`);
        // The agent ends: the command may finish, but the agent does not wait for it.
        const leave = (): void => {
          clearTimeout(timer);
          child.unref();
          child.stderr.destroy();
          reject(new Error(`The agent ended before ${what} did.`));
        };
        stopping.addEventListener('abort', leave, { once: true });
        const settled = (): void => {
          clearTimeout(timer);
          stopping.removeEventListener('abort', leave);
        };
        child.once('error', (error) => {
          settled();
          reject(new Error(`${what} could not be run: ${error.message}. Correct notify_command.`, { cause: error }));
        });
        child.once('exit', (code, signal) => {
          settled();
          child.stderr.destroy();
          if (code === 0) return resolve(`${what} ended with 0.`);
          const how = isLate
            ? `did not end within ${timeoutMs / 1_000} s and was stopped`
            : `ended with ${signal ?? code}`;
          const last = said.trim();
          return reject(new Error(`${what} ${how}${last === '' ? '.' : `: ${last}`}`));
        });
      }),
  };
}

/** The delivery for programs that read no JSON. None of the names is that of a setting. */
function environmentOf({ text, state, sentence, member, dashboard, notices }: Delivery): Record<string, string> {
  return {
    LOCKSTEP_NOTICE_TEXT: text,
    LOCKSTEP_NOTICE_STATE: state,
    LOCKSTEP_NOTICE_KINDS: [...new Set(notices.map(({ kind }) => kind))].join(' '),
    LOCKSTEP_NOTICE_SENTENCE: sentence,
    LOCKSTEP_NOTICE_MEMBER: member.name,
    LOCKSTEP_NOTICE_DASHBOARD: dashboard,
  };
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}
