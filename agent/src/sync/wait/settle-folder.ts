import { LockstepError } from '@lockstep/shared';
import { ignoreFileName } from '../../core/ignore/ignore-rules.ts';
import type { Context } from '../state/context.ts';
import { untilRulesRest } from '../state/ignore-file.ts';
import { type Blocking, listedMax } from './blocking.ts';

/** Interval at which a wait checks whether the folder is back. */
const folderRetryMs = 20;
/** Interval at which a wait checks whether a disk is back, or a directory can be listed. */
const seeRetryMs = 250;
/** How long a wait that has expired waits for the lock: most actions take less. */
const lockGraceMs = 1_000;

/** The changes that are not journaled: paths that changed, and directories that could not be listed. */
interface Unsettled {
  readonly unsettled: readonly string[];
  readonly unread: readonly string[];
}

const nothingOpen: Unsettled = { unsettled: [], unread: [] };

/** Scans a path and everything below it, and journals changes: see `LocalChanges`. */
export interface FolderScan {
  settleAll(path: string, giveUp: Promise<void>): Promise<Unsettled>;
}

/** Compares the mounts inside the folder with the accepted ones: see `Mounts`. */
export interface MountCheck {
  check(): Promise<void>;
  reason(path: string): string | undefined;
}

/**
 * Scans `path` and everything below it, and journals all changes, noticed before or not. Resolves with what blocks that, or with
 * undefined.
 */
export async function settle(
  parts: {
    readonly context: Context;
    readonly localChanges: FolderScan;
    readonly mounts: MountCheck;
    readonly lifecycle: { readonly isLeaving: boolean };
  },
  path: string | undefined,
  expiry: Promise<void>,
  giveUp: () => boolean,
): Promise<readonly Blocking[] | undefined> {
  const { context } = parts;
  const rules = context.ignored.text;
  let { unsettled, unread, problem } = await journalAll(parts, path ?? '', expiry, giveUp);
  const { id, name } = context.self;
  // The new operations may be about the ignore rules, which are read under the lock.
  if (!(await passesLock(context, expiry))) {
    const reason = `${name} still puts changes of other members into its folder. Wait again.`;
    return [{ path, member: id, memberName: name, reason }];
  }
  // Rules that came into force meanwhile may no longer ignore an entry that the scan has passed.
  if (context.ignored.isWaiting || context.ignored.text !== rules) {
    await untilRulesRest(context, giveUp);
    ({ unsettled, unread, problem } = await journalAll(parts, path ?? '', expiry, giveUp));
  }
  if (parts.lifecycle.isLeaving) {
    const reason = `The agent of ${name} is stopping, and has not checked everything. Start it, and wait again.`;
    return [{ path, member: id, memberName: name, reason }];
  }
  if (context.ignored.isWaiting) {
    const reason = `${ignoreFileName} was changed on this member, and its rules are not in force yet.`;
    return [{ path: ignoreFileName, member: id, memberName: name, reason }];
  }
  if (problem !== undefined) return [{ path, reason: problem }];
  // A scan that was repeated because of such a directory may not have come to its end: that is no reason of its own.
  const open = unsettled.filter((each) => unread.length === 0 || each !== (path ?? ''));
  const inTheWay = [
    ...unread.map((directory) => ({ at: directory, what: 'cannot be listed' })),
    ...open.map((each) => ({ at: each, what: unsettledWords(each, path) })),
  ];
  // There may be tens of thousands, and each one looks for its problem.
  const listed = inTheWay.slice(0, listedMax).map(({ at, what }) => blockedBy(context, at, what));
  if (listed.length > 0) return listed;
  const kept = path === undefined ? undefined : whyNotReplicated(context, path);
  return kept === undefined ? undefined : [{ path, member: id, memberName: name, reason: kept }];
}

/** Resolves with true once the lock was free, or with false if that takes too long: a batch of very deep paths holds it for half a minute. */
async function passesLock({ lock, clock }: Context, expiry: Promise<void>): Promise<boolean> {
  const passed = lock.run(() => Promise.resolve(true));
  const late = expiry.then(() => new Promise<boolean>((resolve) => clock.after(lockGraceMs, () => resolve(false))));
  return Promise.race([passed, late]);
}

/** The path that was waited for is open as well if the scan of what is below it did not come to its end. */
function unsettledWords(open: string, path: string | undefined): string {
  if (open === '') return 'has not been examined to its end';
  return open === path
    ? 'has changed, or has not been examined to its end'
    : 'has changed or is changing, and that is not journaled yet';
}

/** The blocking reason for entries at or below `path` that are not journaled: the problem that they have, or `what` they do. */
function blockedBy({ problems, self }: Context, path: string, what: string): Blocking {
  // Without room on the disk nothing is journaled.
  const full = problems.list().find((problem) => problem.code === 'disk-full' && problem.path === undefined);
  const reason = problems.ofPath(path)?.detail ?? full?.detail ?? `On this member ${path || 'the folder'} ${what}.`;
  return { ...(path !== '' && { path }), member: self.id, memberName: self.name, reason };
}

/**
 * Why no entry at or below `path` can become durable elsewhere, after a scan; undefined if one can. Throws for a path that has never
 * existed: a wait for a misspelt name must not report that it is safe.
 */
function whyNotReplicated({ journal, problems, ignored, self }: Context, path: string): string | undefined {
  if (journal.heads.at(path).length > 0 || journal.heads.under(path, undefined, 1).length > 0) return undefined;
  if (ignored.ignores(path, false) || ignored.ignores(path, true)) {
    return `${path} is kept out by a rule of ${ignoreFileName}, and was never replicated.`;
  }
  const problem = problems.ofPath(path);
  if (problem !== undefined) return problem.detail;
  const detail = `There is nothing at ${path} in the folder of ${self.name}, and no member has ever journaled it. Check the name.`;
  throw new LockstepError('request-invalid', detail);
}

/**
 * Scans `path` and everything below it, and journals all changes. While the folder is missing it cannot be seen, so the scan waits
 * until it is back. `problem`: why it was not back when `giveUp` returned true. `unread`: directories that could not be listed until
 * then.
 */
async function journalAll(
  {
    context: { folder, clock },
    localChanges,
    mounts,
  }: { readonly context: Context; readonly localChanges: FolderScan; readonly mounts: MountCheck },
  path: string,
  expiry: Promise<void>,
  giveUp: () => boolean,
): Promise<Unsettled & { readonly problem?: string | undefined }> {
  for (;;) {
    const before = await folder.health();
    if (before.ok) await mounts.check();
    const wasHidden = mounts.reason(path) !== undefined;
    const { unsettled, unread } = wasHidden ? nothingOpen : await localChanges.settleAll(path, expiry);
    const after = await folder.health();
    if (after.ok) await mounts.check();
    const hidden = mounts.reason(path);
    const isSeen = before.ok && after.ok && !wasHidden && hidden === undefined;
    if (isSeen && (unread.length === 0 || giveUp())) return { unsettled, unread };
    const problem = after.detail ?? before.detail ?? hidden ?? 'The folder cannot be read.';
    if (giveUp()) return { unsettled, unread, problem };
    const retryMs = hidden === undefined && unread.length === 0 ? folderRetryMs : seeRetryMs;
    await new Promise<void>((resolve) => clock.after(retryMs, resolve));
  }
}
