import { isMemberPath, LockstepError, memberOf, type Operation } from '@lockstep/shared';
import { ignoreFileName } from '../../core/ignore/ignore-rules.ts';
import { majorityOf } from '../../core/membership.ts';
import type { ConfirmedFiles, Confirmer } from '../integrity/confirmer.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import type { Timer } from '../ports/clock.ts';
import type { Context, Self } from '../state/context.ts';
import { untilRulesRest } from '../state/ignore-file.ts';
import { ReplicaCount } from './replica-count.ts';
import { goalOf } from './wait-goal.ts';
import type { WriteBack } from './write-back.ts';

const listedMax = 100;
const checkIntervalMs = 20;
/** Interval at which a wait checks whether a disk is back, or a directory can be listed. */
const seeRetryMs = 250;

export interface WaitQuery {
  /** Only this path and the entries below it. */
  readonly path?: string | undefined;
  readonly for: 'all' | 'majority' | number;
  readonly timeoutMs: number;
}

export interface Blocking {
  readonly path?: string | undefined;
  readonly member?: string | undefined;
  readonly memberName?: string | undefined;
  readonly reason: string;
}

export interface WaitOutcome {
  readonly done: boolean;
  readonly wanted: number;
  readonly holding: number;
  readonly members: number;
  readonly elapsedMs: number;
  readonly blocking: readonly Blocking[];
}

/** Scans a path and everything below it, and journals changes: see `LocalChanges`. */
interface FolderScan {
  unread(path: string): readonly string[];
  settleAll(path: string, giveUp: Promise<void>): Promise<readonly string[]>;
}

/** Compares the mounts inside the folder with the accepted ones: see `Mounts`. */
interface MountCheck {
  check(): Promise<void>;
  reason(path: string): string | undefined;
}

/**
 * Waits until all entries that were on this member's disk at the call, noticed before or not, are durable on the wanted number of
 * members. A scan finds changes that are not journaled yet; after that it counts. Throws 'request-invalid' for a wait that
 * cannot end: for more members than there are, or for a path that has never existed.
 */
export async function waitForDurability(
  parts: {
    readonly context: Context;
    readonly peers: Peers;
    readonly localChanges: FolderScan;
    readonly writeBack: WriteBack;
    readonly confirmer: Confirmer;
    readonly mounts: MountCheck;
    readonly reason: (path: string) => string | undefined;
    readonly aborted: () => boolean;
    /** True if the agent is stopping: it examines no further paths. */
    readonly isStopping: () => boolean;
  },
  query: WaitQuery,
): Promise<WaitOutcome> {
  const { context, peers } = parts;
  const { clock } = context;
  const others = membersToAsk(context, peers);
  const members = others.length + 1;
  const wanted = query.for === 'all' ? members : query.for === 'majority' ? majorityOf(members) : query.for;
  if (wanted > members) {
    const detail = `${wanted} members were asked for, and the cluster has ${members}. Ask for all of them, or for fewer.`;
    throw new LockstepError('request-invalid', detail);
  }
  const startMs = clock.monotonicMs();
  const elapsedMs = (): number => clock.monotonicMs() - startMs;
  let timer: Timer | undefined;
  const expiry = new Promise<void>((resolve) => {
    timer = clock.after(query.timeoutMs, resolve);
  });
  const giveUp = (): boolean => elapsedMs() >= query.timeoutMs || parts.aborted() || parts.isStopping();
  const outcome = (holding: number, blocking?: readonly Blocking[]): WaitOutcome => {
    const done = blocking === undefined;
    return { done, wanted, holding, members, elapsedMs: elapsedMs(), blocking: blocking ?? [] };
  };
  try {
    const inTheWay = await settle(parts, query.path, expiry, giveUp);
    if (inTheWay !== undefined) return outcome(0, inTheWay);
    // Files that may have changed without a trace are read again, while the others receive what is known.
    const second = new SecondRead(parts, query.path ?? '', giveUp);
    let holders = new ReplicaCount(context, goalOf(context, query.path));
    let seals = context.journal.seals();
    for (;;) {
      if (second.takeDifferent()) {
        const stillInTheWay = await settle(parts, query.path, expiry, giveUp);
        if (stillInTheWay !== undefined) return outcome(0, stillInTheWay);
        holders = new ReplicaCount(context, goalOf(context, query.path));
      }
      if (context.journal.seals() !== seals) {
        // Numbers in the goal are gone, and their entries have others now: the vector of all known operations covers these.
        seals = context.journal.seals();
        holders = new ReplicaCount(context, goalOf(context, undefined));
      }
      const holding = holders.count(others);
      if (holding >= wanted && second.isDone) return outcome(holding);
      if (giveUp()) {
        const blocking = explain(parts, others, holders);
        return outcome(holding, second.isDone ? blocking : [second.blocking(context.self), ...blocking]);
      }
      parts.writeBack.hurry();
      await new Promise<void>((resolve) => clock.after(checkIntervalMs, resolve));
    }
  } finally {
    timer?.cancel();
  }
}

/** The second read of files that may have changed without a trace. It runs while the wait counts. */
class SecondRead {
  #result: ConfirmedFiles | undefined;
  #error: unknown;

  constructor(
    { context, confirmer }: { readonly context: Context; readonly confirmer: Confirmer },
    path: string,
    giveUp: () => boolean,
  ) {
    if (context.journal.unconfirmed(path).length === 0) {
      this.#result = { hasDifferent: false, open: undefined };
      return;
    }
    confirmer.readNow(path, giveUp).then(
      (result) => {
        this.#result = result;
      },
      (error: unknown) => {
        this.#error = error;
      },
    );
  }

  /** True if all files were read. */
  get isDone(): boolean {
    return this.#result !== undefined && this.#result.open === undefined;
  }

  /** Returns true, once, if some of them differ from the journal. */
  takeDifferent(): boolean {
    if (this.#error !== undefined) throw this.#error;
    const hasDifferent = this.#result?.hasDifferent ?? false;
    if (this.#result !== undefined) this.#result = { ...this.#result, hasDifferent: false };
    return hasDifferent;
  }

  blocking({ id, name }: Self): Blocking {
    const path = this.#result?.open;
    const reason = `${path ?? 'A recently changed file'} is being read again on this member: it may have changed without a trace.`;
    return { path, member: id, memberName: name, reason };
  }
}

/**
 * Scans `path` and everything below it, and journals all changes, noticed before or not. Resolves with what blocks that, or with
 * undefined.
 */
async function settle(
  parts: {
    readonly context: Context;
    readonly localChanges: FolderScan;
    readonly mounts: MountCheck;
    readonly isStopping: () => boolean;
  },
  path: string | undefined,
  expiry: Promise<void>,
  giveUp: () => boolean,
): Promise<readonly Blocking[] | undefined> {
  const { context } = parts;
  const rules = context.ignored.text;
  let { unsettled, unread, problem } = await journalAll(parts, path ?? '', expiry, giveUp);
  // The new operations may be about the ignore rules, which are read under the lock.
  await context.lock.run(() => Promise.resolve());
  // Rules that came into force meanwhile may no longer ignore an entry that the scan has passed.
  if (context.ignored.isWaiting || context.ignored.text !== rules) {
    await untilRulesRest(context, giveUp);
    ({ unsettled, unread, problem } = await journalAll(parts, path ?? '', expiry, giveUp));
  }
  const { id, name } = context.self;
  if (parts.isStopping()) {
    const reason = `The agent of ${name} is stopping, and has not checked everything. Start it, and wait again.`;
    return [{ path, member: id, memberName: name, reason }];
  }
  if (context.ignored.isWaiting) {
    const reason = `${ignoreFileName} was changed on this member, and its rules are not in force yet.`;
    return [{ path: ignoreFileName, member: id, memberName: name, reason }];
  }
  if (problem !== undefined) return [{ path, reason: problem }];
  const inTheWay = [
    ...unread.map((directory) => blockedBy(context, directory, 'cannot be listed')),
    ...unsettled.map((open) => blockedBy(context, open, 'keeps changing, or is still being read,')),
  ];
  if (inTheWay.length > 0) return inTheWay.slice(0, listedMax);
  const kept = path === undefined ? undefined : whyNotReplicated(context, path);
  return kept === undefined ? undefined : [{ path, member: id, memberName: name, reason: kept }];
}

/** The blocking reason for entries at or below `path` that are not journaled: the problem that they have, or `what` they do. */
function blockedBy({ problems, self }: Context, path: string, what: string): Blocking {
  // Without room on the disk nothing is journaled.
  const full = problems.list().find((problem) => problem.code === 'disk-full' && problem.path === undefined);
  const reason = problems.ofPath(path)?.detail ?? full?.detail ?? `${path || 'The folder'} ${what} on this member.`;
  return { ...(path !== '' && { path }), member: self.id, memberName: self.name, reason };
}

/** All other members that joined and have not left. */
function membersToAsk(context: Context, peers: Peers): readonly Peer[] {
  peers.learn();
  const memberships = new Map(context.journal.members().map((record) => [record.id, record.standing]));
  return peers.all().filter((peer) => memberships.get(peer.id) !== 'left');
}

/**
 * Why no entry at or below `path` can become durable elsewhere, after a scan; undefined if one can. Throws for a path that has never
 * existed: a wait for a misspelt name must not report that it is safe.
 */
function whyNotReplicated({ journal, problems, ignored, self }: Context, path: string): string | undefined {
  if (journal.heads(path).length > 0 || journal.headsUnder(path, undefined, 1).length > 0) return undefined;
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
): Promise<{
  readonly unsettled: readonly string[];
  readonly unread: readonly string[];
  readonly problem?: string | undefined;
}> {
  for (;;) {
    const before = await folder.health();
    if (before.ok) await mounts.check();
    const wasHidden = mounts.reason(path) !== undefined;
    const unsettled = wasHidden ? [] : await localChanges.settleAll(path, expiry);
    const after = await folder.health();
    if (after.ok) await mounts.check();
    const hidden = mounts.reason(path);
    const unread = localChanges.unread(path);
    const isSeen = before.ok && after.ok && !wasHidden && hidden === undefined;
    if (isSeen && (unread.length === 0 || giveUp())) return { unsettled, unread };
    const problem = after.detail ?? before.detail ?? hidden ?? 'The folder cannot be read.';
    if (giveUp()) return { unsettled, unread, problem };
    const retryMs = hidden === undefined && unread.length === 0 ? checkIntervalMs : seeRetryMs;
    await new Promise<void>((resolve) => clock.after(retryMs, resolve));
  }
}

function explain(
  parts: { readonly context: Context; readonly peers: Peers; readonly reason: (path: string) => string | undefined },
  others: readonly Peer[],
  holders: ReplicaCount,
): readonly Blocking[] {
  const { context, peers } = parts;
  const blocking: Blocking[] = [];
  const own = context.journal.applied();
  for (const dot of holders.missing(own, listedMax)) {
    const operation = context.journal.operation(dot);
    if (operation === undefined) continue;
    const { path } = operation;
    const why = context.problems.ofPath(path)?.detail ?? parts.reason(path) ?? siblingReason(context, operation);
    blocking.push({ path: pathToShow(operation), member: context.self.id, memberName: context.self.name, reason: why });
  }
  for (const peer of others) {
    for (const dot of holders.missing(peer.applied, listedMax)) {
      const name = peers.nameOf(peer.id);
      const problems = peer.said?.problems ?? 0;
      const report = problems === 0 ? '' : `: it reports ${problems === 1 ? '1 problem' : `${problems} problems`}`;
      const isHeard = peer.ready || peer.passedOn !== undefined;
      const reason = isHeard
        ? `${name} has not finished with it${report}.`
        : absentReason(name, peer, peers.record(peer.id)?.mayBeAway === true);
      blocking.push({ path: pathToShow(context.journal.operation(dot)), member: peer.id, memberName: name, reason });
    }
  }
  // Several versions of one path may be on their way.
  const distinct = new Map(blocking.map((each) => [JSON.stringify([each.path, each.member, each.reason]), each]));
  return [...distinct.values()].slice(0, listedMax);
}

/** The path of an operation, for people; undefined for an entry of the member list, which has an internal path. */
function pathToShow(operation: Operation | undefined): string | undefined {
  return operation === undefined || isMemberPath(operation.path) ? undefined : operation.path;
}

/** The reason for an absent member, which blocks a wait for all members until it returns or leaves. */
function absentReason(name: string, peer: Peer, mayBeAway: boolean): string {
  const orFewer = 'or ask for fewer members, as --for majority does.';
  if (peer.paused) return `${name} is paused. Run lockstep resume on that machine, ${orFewer}`;
  if (mayBeAway)
    return `${name} is away, and is marked as a member that may be. It is counted: wait until it is back, ${orFewer}`;
  if (peer.stopped) return `${name} is shut down. Start it again, ${orFewer}`;
  const why = peer.lastError === undefined ? '' : ` (${peer.lastError})`;
  return (
    `${name} is not heard${why}. Start it again, ${orFewer} A member that is lost for good is counted until lockstep remove ` +
    `${name} retires it.`
  );
}

function siblingReason(context: Context, operation: Operation): string {
  if (operation.member !== undefined)
    return `The entry of ${operation.member.name} in the member list is not joined yet.`;
  if (context.journal.disk(operation.path)?.unsynced) {
    const failed = context.problems.list().find(({ code }) => code === 'sync-failed');
    return failed?.detail ?? `${operation.path} is not durable on this disk yet.`;
  }
  if (context.journal.heads(operation.path).length < 2) return `${operation.path} is not on this disk yet.`;
  const origin = memberOf(operation.origin);
  const name = context.journal.members().find(({ id }) => id === origin)?.name ?? origin.slice(0, 8);
  return `${operation.path} has concurrent versions that are not joined yet; ${name} has one of them.`;
}
