import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repositoryRoot } from './repository.ts';

/** The output of commands for people, and the exit code of the last one. */
interface Ran {
  readonly code: number;
  readonly notes: string;
}

/** The URL of a module of the built command line. */
function moduleOf(path: string): string {
  return pathToFileURL(join(repositoryRoot, 'agent', 'dist', 'cli', path)).href;
}

const script = `
  import { processTerminal } from ${JSON.stringify(moduleOf('output/terminal.js'))};
  import { runProgram } from ${JSON.stringify(moduleOf('program.js'))};
  process.on('message', async (commands) => {
    const notes = [];
    const terminal = { ...processTerminal(), print: () => undefined, note: (text) => notes.push(text) };
    let code = 0;
    for (const args of commands) if ((code = await runProgram(args, terminal)) !== 0) break;
    process.send({ code, notes: notes.join('\\n') });
  });
  process.send('ready');`;

let child: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/** Resolves with what the process says next. Rejects if it ends. */
async function answerOf(runner: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  const end = once(runner, 'exit', { signal: ended.signal }).then(([code, signal]) => {
    throw new Error(`The process that runs commands ended with ${signal ?? code}.`);
  });
  try {
    return await Promise.race([once(runner, 'message').then(([message]) => message as unknown), end]);
  } finally {
    ended.abort();
    end.catch(() => undefined);
  }
}

/** The process, which ends with this one. */
async function running(): Promise<ChildProcess> {
  if (child?.connected === true) return child;
  child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, FORCE_COLOR: '0' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await answerOf(child);
  return child;
}

async function ran(commands: readonly (readonly string[])[]): Promise<Ran> {
  const runner = await running();
  // While it works, this process waits for it; in between it may end.
  runner.ref();
  runner.channel?.ref();
  runner.send(commands);
  const answer = (await answerOf(runner)) as Ran;
  runner.unref();
  runner.channel?.unref();
  return answer;
}

/**
 * Runs commands of `lockstep`, as long as each succeeds, in one process that is kept for the next call: a process of its own costs each call
 * almost a second of processor time.
 */
export function lockstepInTurn(commands: readonly (readonly string[])[]): Promise<Ran> {
  const next = last.then(() => ran(commands));
  last = next.catch(() => undefined);
  return next;
}
