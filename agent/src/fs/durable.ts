import { constants } from 'node:fs';
import type { SystemCalls } from './system-calls.ts';

/** From this many files or directories on, one syncfs(2) makes them durable sooner than an fsync of each. */
export const syncTogetherMin = 24;

/** True when so many are better made durable by `syncFileSystem` than one by one. */
export function isWorthSyncingTogether(system: Pick<SystemCalls, 'canSyncFileSystem'>, count: number): boolean {
  return count >= syncTogetherMin && system.canSyncFileSystem;
}

/** Makes one file, or the names in one directory, durable. */
export function syncPath(system: SystemCalls, path: string): void {
  const fd = system.open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    system.fsync(fd);
  } finally {
    system.close(fd);
  }
}
