import { constants } from 'node:fs';
import type { SystemCalls } from './system-calls.ts';

/** From this number of files or directories on, one syncfs(2) is faster than one fsync each. */
export const syncTogetherMin = 24;

/** True if `syncFileSystem` is faster for this number than one fsync each. */
export function isWorthSyncingTogether(system: Pick<SystemCalls, 'canSyncFileSystem'>, count: number): boolean {
  return count >= syncTogetherMin && system.canSyncFileSystem;
}

/** Makes a file, or the names in a directory, durable. */
export function syncPath(system: SystemCalls, path: string): void {
  const fd = system.open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    system.fsync(fd);
  } finally {
    system.close(fd);
  }
}
