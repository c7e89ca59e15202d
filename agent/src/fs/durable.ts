import { spawn, spawnSync } from 'node:child_process';
import { closeSync, constants, fsyncSync, openSync } from 'node:fs';

/** From this many files or directories on, one syncfs(2) makes them durable sooner than an fsync of each. */
export const syncTogetherMin = 24;

/** A disk that takes longer than this to write what it holds is treated as one that cannot. */
const syncTimeoutMs = 120_000;

/** False once `sync -f` has failed or was not there: then it is not tried again. */
let canSyncTogether = process.platform === 'linux';

/** True when so many are better made durable by `syncTogether` than one by one. */
export function isWorthSyncingTogether(count: number): boolean {
  return canSyncTogether && count >= syncTogetherMin;
}

/**
 * Makes everything written so far to the file system of `directory` durable. Node has no syncfs(2), so the tool of that
 * name's package does it. False when that did not work: then each file must be synced by itself.
 */
export function syncTogether(directory: string): boolean {
  const { status } = spawnSync('sync', ['-f', directory], { stdio: 'ignore', timeout: syncTimeoutMs });
  canSyncTogether = status === 0;
  return canSyncTogether;
}

/** As `syncTogether`, without holding the calling thread up. It takes as long as the disk does. */
export function syncTogetherLater(directory: string): Promise<boolean> {
  return new Promise((resolve) => {
    const ended = (isDone: boolean): void => {
      canSyncTogether &&= isDone;
      resolve(isDone);
    };
    const child = spawn('sync', ['-f', directory], { stdio: 'ignore' });
    child.on('error', () => ended(false));
    child.on('exit', (code) => ended(code === 0));
  });
}

/** Makes one file, or the names in one directory, durable. */
export function syncPath(path: string): void {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
