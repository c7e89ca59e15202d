import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { LabMember } from './lab-plan.ts';

/** How a member's process ended. */
export interface LabExit {
  /** `exit code 1`, `signal SIGKILL`. */
  readonly how: string;
  /** The last line it wrote to its standard error, if any. */
  readonly lastWords: string | undefined;
}

export interface LabProcess {
  readonly member: LabMember;
  readonly pid: number | undefined;
  /** Resolves when it is ready; never if it ends before. */
  readonly ready: Promise<void>;
  readonly ended: Promise<LabExit>;
  stop(): void;
}

const program = fileURLToPath(new URL('../../../bin/lockstep.js', import.meta.url));

async function lastLine(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').at(-1) || undefined;
}

function ending(child: ChildProcess, logFile: string): Promise<LabExit> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ how: error.message, lastWords: undefined }));
    child.once('close', (code, signal) => {
      const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
      void lastLine(logFile).then((lastWords) => resolve({ how, lastWords }));
    });
  });
}

/** Starts a member as a process of its own; its log goes to `logFile`. */
export function startLabProcess(member: LabMember, logFile: string): LabProcess {
  const log = openSync(logFile, 'w');
  // The pipe to its standard input closes when the lab is gone, even if the lab was killed. The lab runs all its members, including one
  // that has left, so `--rejoin` is set.
  const child = spawn(program, ['up', '--stop-with-input', '--rejoin', member.directory], {
    stdio: ['pipe', 'pipe', log],
  });
  closeSync(log);
  const ready = new Promise<void>((resolve) => {
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'ready') resolve();
    });
  });
  return { member, pid: child.pid, ready, ended: ending(child, logFile), stop: () => child.kill('SIGTERM') };
}
