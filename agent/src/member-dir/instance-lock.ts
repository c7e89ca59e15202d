import { readlinkSync } from 'node:fs';
import { lstat, readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { LockstepError, stateDirectoryName } from '@lockstep/shared';
import { z } from 'zod';
import { bootId } from '../os/boot-id.ts';
import { diskError } from '../os/disk-error.ts';
import { readRegularFile } from '../os/regular-file.ts';
import { shellWord } from '../os/shell-word.ts';
import { writeDurably } from './durable-file.ts';
import { tryExclusiveLock } from './exclusive-lock.ts';

const lockName = 'lock.db';

const runningSchema = z.object({
  pid: z.int().positive(),
  /** The name of the machine or container of the process; older agents omit it. */
  host: z.string().optional(),
  /** The processes among which the id is valid; older agents and other systems than Linux omit it. */
  processes: z.string().optional(),
  startedAt: z.number(),
  /** The URL of the API and the dashboard, once they answer. */
  dashboardUrl: z.string().optional(),
  /** The path of the socket for commands. */
  socketPath: z.string().optional(),
});

/** The record of the process that holds the lock. `isLost`: the record was removed, and the process was found without it. */
export type RunningAgent = z.infer<typeof runningSchema> & { readonly isLost?: true };

/** The process in words, and how to stop it. A process id is valid only inside its container: outside it is another process. */
export function describeRunning(running: RunningAgent): { readonly who: string; readonly stop: string } {
  const { pid, host } = running;
  return host === undefined || isAmongOurs(running)
    ? { who: `process ${pid}`, stop: `kill ${pid}` }
    : { who: `process ${pid} of ${host}`, stop: `stop the container or service on ${host}` };
}

/**
 * True if the process id is valid here. The name of a machine may change while an agent runs, and two containers may have one name: so
 * Linux is asked for the processes that it counts together.
 */
function isAmongOurs({ host, processes }: Pick<RunningAgent, 'host' | 'processes'>): boolean {
  const ours = processesHere();
  if (processes !== undefined && ours !== undefined) return processes === ours;
  return host === undefined || host === hostname();
}

/** A name for the processes that Linux counts together: those of one container, since the machine was started. */
function processesHere(): string | undefined {
  const boot = bootId();
  try {
    return boot && `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
}

/** The record of a process that runs here. */
function recordOf(pid: number, startedAt: number): RunningAgent {
  const processes = processesHere();
  return { pid, host: hostname(), startedAt, ...(processes !== undefined && { processes }) };
}

/** True if a process with that id runs on this machine. */
export function isAlive(running: RunningAgent): boolean {
  if (!isAmongOurs(running)) return false;
  try {
    return process.kill(running.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** True if the process has a file of the state directory open. Another process may have the id of one that has ended. */
async function usesState(directory: string, { pid }: RunningAgent): Promise<boolean> {
  try {
    const state = await realpath(join(directory, stateDirectoryName));
    return (await openFiles(pid)).some((path) => path.startsWith(`${state}/`));
  } catch {
    return false;
  }
}

/** The paths of the files that a process has open; none if this user may not know. */
async function openFiles(pid: number): Promise<readonly string[]> {
  const files = `/proc/${pid}/fd`;
  const names = await readdir(files).catch(() => []);
  return Promise.all(names.map((name) => readlink(join(files, name)).catch(() => '')));
}

/** The agent whose lock was removed while it runs. */
async function findWithoutLock(directory: string): Promise<RunningAgent | undefined> {
  const running = await readRunning(directory);
  if (running === undefined) return findWithoutRecord(directory);
  if (running.pid === process.pid || !isAlive(running)) return undefined;
  return (await usesState(directory, running)) ? running : undefined;
}

/** The agent whose lock and record were removed while it runs: it still has the removed file of the lock open. Linux alone tells. */
async function findWithoutRecord(directory: string): Promise<RunningAgent | undefined> {
  const removed = await realpath(join(directory, stateDirectoryName)).then(
    (state) => `${state}/${lockName} (deleted)`,
    () => undefined,
  );
  for (const pid of await lockHolders()) {
    if ((await openFiles(pid)).some((path) => path === removed)) return { ...recordOf(pid, 0), isLost: true };
  }
  return undefined;
}

/**
 * The other processes that hold a lock on any file, as SQLite takes them. Only their open files are listed: the kernel does not answer for a
 * process that hangs in exec(2), so to ask for all of them could block this one.
 */
async function lockHolders(): Promise<readonly number[]> {
  const locks = await readFile('/proc/locks', 'utf8').catch(() => '');
  const pids = [...locks.matchAll(/ POSIX +\S+ +\S+ +(\d+) /g)].map(([, pid]) => Number(pid));
  return [...new Set(pids)].filter((pid) => pid !== 0 && pid !== process.pid);
}

/** The lock of the only process that may use a state directory. */
export interface InstanceLock {
  /** Publishes for commands of other processes that the agent answers, and where. */
  announce(agent: { readonly dashboardUrl: string; readonly socketPath?: string | undefined }): Promise<void>;
  release(): Promise<void>;
}

/** The time that a starting agent waits for the lock: a command that checks for a running agent holds it for a moment. */
const probeTimeMs = 500;

function runningPath(directory: string): string {
  return join(directory, stateDirectoryName, 'running.json');
}

async function readRunning(directory: string): Promise<RunningAgent | undefined> {
  try {
    return runningSchema.parse(JSON.parse(await readRegularFile(runningPath(directory))));
  } catch {
    // Absent, or half written by a process that was killed: the lock alone shows whether an agent runs.
    return undefined;
  }
}

/** The path of the socket on which the agent of `directory` answers the commands of its own user, if its file system can hold one. */
export function ownSocketPath(directory: string): string {
  return join(directory, stateDirectoryName, 'api.sock');
}

/** The path of that socket as the last agent recorded it. */
export async function recordedSocketPath(directory: string): Promise<string> {
  return (await readRunning(directory))?.socketPath ?? ownSocketPath(directory);
}

async function writeRunning(directory: string, running: RunningAgent): Promise<void> {
  const path = runningPath(directory);
  try {
    await writeDurably(path, `${JSON.stringify(running)}\n`);
  } catch (cause) {
    const failed = diskError(cause, path);
    if (failed !== undefined) throw failed;
    const { code } = cause as NodeJS.ErrnoException;
    const hint =
      code === 'EISDIR'
        ? `Remove the directory ${path} or ${path}.new.`
        : code === 'EROFS'
          ? 'The disk is mounted read-only: mount it for writing.'
          : 'Free some space or make it writable.';
    throw new LockstepError('folder-not-writable', `${path} cannot be written (${code}). ${hint}`, { cause });
  }
}

function lockPath(directory: string): string {
  return join(directory, stateDirectoryName, lockName);
}

/** True if the file of the lock exists. Rejects with 'folder-not-writable' if this user may not know. */
async function lockExists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'EACCES') return false;
    const hint = 'Run the command as the user of the agent.';
    throw new LockstepError('folder-not-writable', `${dirname(path)} cannot be opened (${code}). ${hint}`, { cause });
  }
}

/**
 * The agent that runs on `directory` now, or undefined. The record of a killed agent does not count. Rejects with 'already-running' if a
 * process holds the lock and its record is lost, and with 'folder-not-writable' if another user's agent may run.
 */
export async function findRunning(directory: string): Promise<RunningAgent | undefined> {
  const path = lockPath(directory);
  if (!(await lockExists(path))) return findWithoutLock(directory);
  const running = await readRunning(directory);
  // A process without a record may be about to write it, or be a command like this one.
  const lock = tryExclusiveLock(path, running === undefined ? probeTimeMs : 0);
  if (lock === undefined) {
    const holder = running ?? (await readRunning(directory));
    if (holder !== undefined) return holder;
    throw new LockstepError(
      'already-running',
      `${directory} is in use by a process that cannot be reached: ${runningPath(directory)} is missing or damaged. Stop that process ` +
        `(${findHolder(directory)} prints its id), and start the agent again: lockstep up ${shellWord(directory)}`,
    );
  }
  lock.release();
  return undefined;
}

/** The command that prints the id of the process that holds the lock. */
function findHolder(directory: string): string {
  return `fuser ${shellWord(lockPath(directory))}`;
}

/** Takes the lock for this process. Rejects with 'already-running', naming the process that holds it. */
export async function acquireLock(directory: string, nowMs: number): Promise<InstanceLock> {
  const unlocked = await findWithoutLock(directory);
  const lock = unlocked === undefined ? tryExclusiveLock(lockPath(directory), probeTimeMs) : undefined;
  if (lock === undefined) {
    const holder = unlocked ?? (await readRunning(directory));
    const { who, stop } =
      holder === undefined
        ? { who: 'another process', stop: `kill the process that ${findHolder(directory)} prints` }
        : describeRunning(holder);
    throw new LockstepError(
      'already-running',
      `${directory} is already in use by ${who}. Stop that one first (Ctrl-C, or ${stop}), or query it with \`lockstep status\`.`,
    );
  }
  const running = recordOf(process.pid, nowMs);
  try {
    await writeRunning(directory, running);
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    announce: ({ dashboardUrl, socketPath }) => {
      // A folder may have another path elsewhere, as that of a container: only another place of the socket is worth recording.
      const elsewhere = socketPath === ownSocketPath(directory) ? undefined : socketPath;
      return writeRunning(directory, {
        ...running,
        dashboardUrl,
        ...(elsewhere !== undefined && { socketPath: elsewhere }),
      });
    },
    async release() {
      await rm(runningPath(directory), { force: true });
      lock.release();
    },
  };
}
