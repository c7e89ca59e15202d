import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { access, open, stat, statfs } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { secondsOf } from '../os/file-time.ts';
import { errorCodeOf } from '../os/system-error.ts';
import { descriptorCalls, O_PATH } from './descriptor-calls.ts';
import { SyncAttempts } from './sync-attempts.ts';
import type { ControlCalls, SystemCalls } from './system-calls.ts';

/** A disk that needs longer than this for a sync is treated as one that cannot sync. */
const syncTimeoutMs = 120_000;

const statTimeoutMs = 10_000;
/** No user unmounts one disk and mounts another in this time. */
const idReusedMs = 20;

const optional = { throwIfNoEntry: false } as const;

/** The system calls of this process. */
export function nodeSystemCalls(): SystemCalls {
  const attempts = new SyncAttempts(process.platform === 'linux');
  return {
    lstat: (path) => fs.lstatSync(path, optional),
    stat: (path) => fs.statSync(path, optional),
    fstat: (fd) => fs.fstatSync(fd),
    mtimeNs: (entry) =>
      typeof entry === 'number'
        ? fs.fstatSync(entry, { bigint: true }).mtimeNs
        : fs.lstatSync(entry, { bigint: true }).mtimeNs,
    ...descriptorCalls(),
    open: fs.openSync,
    close: fs.closeSync,
    read: (fd, target, offset, length, position) => fs.readSync(fd, target, offset, length, position),
    write: (fd, source, offset, length, position) => fs.writeSync(fd, source, offset, length, position),
    fsync: fs.fsyncSync,
    fchmod: fs.fchmodSync,
    futimes: (fd, mtimeUs) => fs.futimesSync(fd, secondsOf(mtimeUs), secondsOf(mtimeUs)),
    lutimes: (path, mtimeUs) => fs.lutimesSync(path, secondsOf(mtimeUs), secondsOf(mtimeUs)),
    link: fs.linkSync,
    rename: fs.renameSync,
    unlink: fs.unlinkSync,
    symlink: (target, path) => fs.symlinkSync(target, path),
    mkdir: (path, mode) => void fs.mkdirSync(path, { mode }),
    rmdir: (path) => fs.rmdirSync(path),
    readdir: (path) => fs.readdirSync(path),
    readdirBytes: (path) => fs.readdirSync(path, { encoding: 'buffer' }),
    readdirTypes: (path) => fs.readdirSync(path, { withFileTypes: true }),
    readlink: (path) => fs.readlinkSync(path, { encoding: 'buffer' }),
    statfs: (path) => fs.statfsSync(path),
    fileSystemId: fileSystemIds(),
    get canSyncFileSystem() {
      return attempts.mayBegin(performance.now());
    },
    // Node has no syncfs(2); `sync` of coreutils calls it.
    syncFileSystem: (path) => {
      const { status } = spawnSync('sync', ['-f', path], { stdio: 'ignore', timeout: syncTimeoutMs });
      attempts.ended(status === 0, performance.now());
      return status === 0;
    },
    mountTable: () => readText('/proc/self/mountinfo'),
    memoryMaps,
    writtenFiles,
    effectiveUser: () => process.geteuid?.(),
    wallMs: () => Date.now(),
  };
}

/** Node's statfs(2) does not return the number; the tool of coreutils prints it. An answer is reused for a moment, for the paths of one batch. */
function fileSystemIds(): SystemCalls['fileSystemId'] {
  const answers = new Map<string, { readonly atMs: number; readonly id: string | undefined }>();
  return (path) => {
    const known = answers.get(path);
    const nowMs = performance.now();
    if (known !== undefined && nowMs - known.atMs < idReusedMs) return known.id;
    const { error, status, stdout, stderr } = spawnSync('stat', ['-f', '-c', '%i', path], {
      encoding: 'utf8',
      timeout: statTimeoutMs,
    });
    const isMissing = errorCodeOf(error) === 'ENOENT';
    const id = status === 0 ? stdout.trim() : '';
    if (id === '' && !isMissing) {
      throw new Error(`stat(1) did not say which file system is at ${path}: ${error?.message ?? stderr.trim()}`);
    }
    answers.set(path, { atMs: nowMs, id: id || undefined });
    return id || undefined;
  };
}

function* memoryMaps(): Generator<string> {
  for (const id of processIds()) yield readText(`/proc/${id}/maps`);
}

/** The kernel gives a descriptor's link the owner's right to write if the file is open for writing. */
const openForWriting = 0o200;

function* writtenFiles(prefix: string): Generator<string> {
  for (const id of processIds()) {
    if (id === String(process.pid)) continue;
    const directory = `/proc/${id}/fd`;
    for (const name of readOr([], () => fs.readdirSync(directory))) {
      const link = `${directory}/${name}`;
      const path = readOr('', () => fs.readlinkSync(link, 'latin1'));
      if (!path.startsWith(prefix)) continue;
      if (readOr(0, () => fs.lstatSync(link).mode) & openForWriting) yield path;
    }
  }
}

function processIds(): readonly string[] {
  return readOr([], () => fs.readdirSync('/proc')).filter((name) => /^\d+$/.test(name));
}

/** Codes of a process that has ended, of one of another user, and of a system without /proc. */
const hiddenCodes: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM']);

/** Empty if it does not exist, or may not be read. */
function readText(path: string): string {
  return readOr('', () => fs.readFileSync(path, 'latin1'));
}

/** Throws other errors, such as that too many files are open: what is there then is unknown. */
function readOr<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!hiddenCodes.has(errorCodeOf(error))) throw error;
    return otherwise;
  }
}

/** As `nodeSystemCalls`, for the control thread. */
export function nodeControlCalls(): ControlCalls {
  const attempts = new SyncAttempts(process.platform === 'linux');
  return {
    stat: async (path) => {
      try {
        return await stat(path);
      } catch (error) {
        if (errorCodeOf(error) === 'ENOENT') return undefined;
        throw error;
      }
    },
    statfs: (path) => statfs(path),
    isWritable: (path) =>
      access(path, fs.constants.W_OK | fs.constants.X_OK).then(
        () => true,
        () => false,
      ),
    openOnce: async (directory) => {
      // Elsewhere a directory is reached by its path.
      if (process.platform !== 'linux') return;
      const opened = await open(directory, O_PATH | fs.constants.O_DIRECTORY);
      await opened.close();
    },
    get canSyncFileSystem() {
      return attempts.mayBegin(performance.now());
    },
    syncFileSystem: (path) =>
      new Promise((resolve) => {
        const ended = (isDone: boolean): void => {
          attempts.ended(isDone, performance.now());
          resolve(isDone);
        };
        const child = spawn('sync', ['-f', path], { stdio: 'ignore' });
        child.on('error', () => ended(false));
        child.on('exit', (code) => ended(code === 0));
      }),
    syncFile: async (path) => {
      const file = await open(path, fs.constants.O_WRONLY | fs.constants.O_NOFOLLOW);
      try {
        await file.datasync();
      } finally {
        await file.close();
      }
    },
    wallMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    turn: () => nextTurn(),
  };
}
