import { dotKey, entryType, fileTimeStepMsMax, hashUnderLockBytesMax, isLive, type Operation } from '@lockstep/shared';
import { type DiskEntry, type Fingerprint, isSameFingerprint } from '../../core/entry.ts';
import type { Observation } from '../ports/observation.ts';
import type { Context } from '../state/context.ts';

/** The entry at a path, equal in the journal and on the disk, or why there is none that both agree on. */
export type CurrentVersion =
  | { readonly operation: undefined }
  | { readonly operation: Operation; readonly fingerprint: Fingerprint }
  /** `isUnjournaled`: the entry changed, and its change is not journaled yet. */
  | { readonly problem: string; readonly isUnjournaled?: boolean };

/** A file that was read outside the folder lock. */
type FileRead = Observation & { readonly state: 'file' };

/** Resolves with the current version at a path. */
export type CurrentAt = (path: string) => Promise<CurrentVersion>;

/**
 * Runs `body` under the folder lock, where it may ask for what is at each of `paths`. Those of them that are too large to be read under the
 * lock, and were written a moment ago, are read before.
 */
export async function withCurrent<T>(
  context: Context,
  paths: readonly string[],
  body: (currentAt: CurrentAt) => Promise<T>,
): Promise<T> {
  const reads = await readLarge(context, paths);
  return context.lock.run(() => body((path) => currentVersion(context, path, reads.get(path))));
}

/** Observes `path`: the entry must be the one that the journal has. `read`: of `readLarge`. */
async function currentVersion({ journal, folder }: Context, path: string, read?: FileRead): Promise<CurrentVersion> {
  const [visible, ...siblings] = journal.heads.at(path);
  if (siblings.length > 0) return { problem: `${path} has versions that are being joined now: try again in a moment.` };
  const operation = visible !== undefined && isLive(visible) ? visible : undefined;
  const row = journal.disk.at(path);
  const fingerprint = row?.fingerprint;
  const isShown = row !== undefined && !row.damaged && visible !== undefined && dotKey(row.dot) === dotKey(visible);
  const isThere = fingerprint !== undefined || row?.remote === true;
  if (operation ? !isShown || !isThere : isThere) {
    return { problem: `This member's disk does not show the current version of ${path} yet: try again in a moment.` };
  }
  if (row?.remote) return elsewhere(path, (await folder.observe([{ path }]))[0]);
  const [seen] = await folder.observe([{ path, expected: isUncertain(row) ? undefined : fingerprint }]);
  if (seen?.state === 'problem') return { problem: seen.detail };
  if (operation === undefined) return seen?.state === 'absent' ? { operation } : unjournaled(path, seen);
  // A directory's times move with its entries.
  if (seen?.state === 'directory' && entryType(operation) === 'directory') {
    return { operation, fingerprint: seen.fingerprint };
  }
  if (seen?.state === 'same' && fingerprint !== undefined) return { operation, fingerprint };
  // The file was written so recently that the fingerprint alone proves nothing: it was read again.
  if (seen?.state === 'file' && seen.content === operation.content) return { operation, fingerprint: seen.fingerprint };
  if (seen?.state === 'symlink' && seen.target === operation.target)
    return { operation, fingerprint: seen.fingerprint };
  const isRead = seen?.state === 'large' && read !== undefined && !read.racy && read.content === operation.content;
  if (isRead && isSameFingerprint(seen.fingerprint, read.fingerprint)) {
    return { operation, fingerprint: seen.fingerprint };
  }
  return unjournaled(path, seen);
}

/** Reads those of these files that are too large to be read under the folder lock, and that may have changed without a trace. */
async function readLarge(context: Context, paths: readonly string[]): Promise<ReadonlyMap<string, FileRead>> {
  const { journal, folder, clock } = context;
  const reads = new Map<string, FileRead>();
  for (const path of paths) {
    const row = journal.disk.at(path);
    if (!isUncertain(row) || (row?.fingerprint?.size ?? 0) <= hashUnderLockBytesMax) continue;
    const read = async (): Promise<Observation | undefined> => (await folder.observe([{ path, hashLarge: true }]))[0];
    let seen = await read();
    if (seen?.state === 'file' && seen.racy) {
      // A write in the same step of the clock would leave the same times.
      await new Promise<void>((resolve) => clock.after(fileTimeStepMsMax, resolve));
      seen = await read();
    }
    if (seen?.state === 'file') reads.set(path, seen);
  }
  return reads;
}

/** True if the fingerprint of the row alone proves nothing. */
function isUncertain(row: DiskEntry | undefined): boolean {
  return row?.racy === true || row?.unconfirmed !== undefined;
}

/** A user may have put another entry at the path of a file that only other members have. */
function elsewhere(path: string, seen: Observation | undefined): CurrentVersion {
  if (seen?.state === 'problem') return { problem: seen.detail };
  return seen?.state === 'absent' ? { problem: notHere(path) } : unjournaled(path, seen);
}

function unjournaled(path: string, seen: Observation | undefined): CurrentVersion {
  return { problem: unseen(path), isUnjournaled: seen?.state !== 'special' };
}

/** The sentence for a file that only other members have. */
export function notHere(path: string): string {
  return `${path} is not on this member, which fetches contents on demand: open it first, or do this on another member.`;
}

/** The sentence for an entry that differs from the one that a person saw. */
export function unseen(path: string): string {
  return `${path} has changed since it was shown, and was left as it is: look at it again.`;
}
