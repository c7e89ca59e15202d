import { isMemberPath, LockstepError, memberOf, type Operation } from '@lockstep/shared';
import { ignoreFileName } from '../../core/ignore/ignore-rules.ts';
import { majorityOf } from '../../core/membership.ts';
import type { ConfirmedFiles, Confirmer } from '../integrity/confirmer.ts';
import type { Peer, Peers } from '../members/peers.ts';
import type { Timer } from '../ports/clock.ts';
import type { Context, Self } from '../state/context.ts';
import { untilRulesRest } from '../state/ignore-file.ts';
import { ReplicaCount } from './replica-count.ts';
import { goalOf } from './wait-goal.ts';
import type { WriteBack } from './write-back.ts';

const listedMax = 100;
const checkIntervalMs = 20;
/** How often a wait asks whether a disk is back, or a directory can be listed. */
const seeRetryMs = 250;

export interface WaitQuery {
  /** Only this path and what lies below it. */
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

/** Looks at everything at or below a path and journals it: see `LocalChanges`. */
interface FolderLook {
  unread(path: string): readonly string[];
  settleAll(path: string, giveUp: Promise<void>): Promise<readonly string[]>;
}

/** Compares the mounts inside the folder with those that it knows: see `Mounts`. */
interface MountCheck {
  check(): Promise<void>;
  reason(path: string): string | undefined;
}

/**
 * Waits until everything that was on this member's disk when it was called, noticed or not, is durable on so many members.
 * What is not journaled yet is looked for by a scan; after that it is counting (DESIGN 7). Throws 'request-invalid' for what can never
 * end: more members than there are, a path that nobody ever told of.
 */
export async function waitForDurability(
  parts: {
    readonly context: Context;
    readonly peers: Peers;
    readonly localChanges: FolderLook;
    readonly writeBack: WriteBack;
    readonly confirmer: Confirmer;
    readonly mounts: MountCheck;
    readonly reason: (path: string) => string | undefined;
    readonly aborted: () => boolean;
    /** The agent ends: what it has not looked at by now, it will not. */
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
    // What may have changed without a trace is read once more, while the others get what is known.
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
        // Numbers that were waited for are gone, and their entries have others now: whatever is known covers these.
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

/** The reading of files that may have changed without a trace, which goes on while the wait counts. */
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

  /** All were read. */
  get isDone(): boolean {
    return this.#result !== undefined && this.#result.open === undefined;
  }

  /** True once, when some of them are not what is journaled. */
  takeDifferent(): boolean {
    if (this.#error !== undefined) throw this.#error;
    const hasDifferent = this.#result?.hasDifferent ?? false;
    if (this.#result !== undefined) this.#result = { ...this.#result, hasDifferent: false };
    return hasDifferent;
  }

  blocking({ id, name }: Self): Blocking {
    const path = this.#result?.open;
    const reason = `${path ?? 'What was changed lately'} is read once more on this member: it may have changed without a trace.`;
    return { path, member: id, memberName: name, reason };
  }
}

/**
 * Looks at everything that is at or below `path` now, noticed or not, and journals it. What is in the way of that; undefined when nothing
 * is.
 */
async function settle(
  parts: {
    readonly context: Context;
    readonly localChanges: FolderLook;
    readonly mounts: MountCheck;
    readonly isStopping: () => boolean;
  },
  path: string | undefined,
  expiry: Promise<void>,
  giveUp: () => boolean,
): Promise<readonly Blocking[] | undefined> {
  const { context } = parts;
  let { unsettled, unread, trouble } = await lookAtAll(parts, path ?? '', expiry, giveUp);
  // What was just journaled may be the rules, which are read under the lock.
  await context.lock.run(() => Promise.resolve());
  if (context.ignored.isWaiting) {
    await untilRulesRest(context, giveUp);
    ({ unsettled, unread, trouble } = await lookAtAll(parts, path ?? '', expiry, giveUp));
  }
  const { id, name } = context.self;
  if (parts.isStopping()) {
    const reason = `The agent of ${name} is stopping, and has not looked at everything. Start it, and wait again.`;
    return [{ path, member: id, memberName: name, reason }];
  }
  if (context.ignored.isWaiting) {
    const reason = `${ignoreFileName} was changed, and has not rested for a second on this member.`;
    return [{ path: ignoreFileName, member: id, memberName: name, reason }];
  }
  if (trouble !== undefined) return [{ path, reason: trouble }];
  const inTheWay = [
    ...unread.map((directory) => blockedBy(context, directory, 'cannot be listed')),
    ...unsettled.map((open) => blockedBy(context, open, 'keeps changing, or is still being read,')),
  ];
  if (inTheWay.length > 0) return inTheWay.slice(0, listedMax);
  const kept = path === undefined ? undefined : whyNotReplicated(context, path);
  return kept === undefined ? undefined : [{ path, member: id, memberName: name, reason: kept }];
}

/** Something at or below `path` is not journaled, because of the problem that it has, or because it does `what`. */
function blockedBy({ problems, self }: Context, path: string, what: string): Blocking {
  // Nothing is journaled while there is no room for it.
  const full = problems.list().find((problem) => problem.code === 'disk-full' && problem.path === undefined);
  const reason = problems.ofPath(path)?.detail ?? full?.detail ?? `${path || 'The folder'} ${what} on this member.`;
  return { ...(path !== '' && { path }), member: self.id, memberName: self.name, reason };
}

/** All others that joined and did not leave. */
function membersToAsk(context: Context, peers: Peers): readonly Peer[] {
  peers.learn();
  const standing = new Map(context.journal.members().map((record) => [record.id, record.standing]));
  return peers.all().filter((peer) => standing.get(peer.id) !== 'left');
}

/**
 * Why there is nothing at or below `path`, just looked at, that could become durable elsewhere; undefined when there is. Throws for a path
 * that nobody ever told of: whoever misspells a name must not be told that it is safe.
 */
function whyNotReplicated({ journal, problems, ignored, self }: Context, path: string): string | undefined {
  if (journal.heads(path).length > 0 || journal.headsUnder(path, undefined, 1).length > 0) return undefined;
  if (ignored.ignores(path, false) || ignored.ignores(path, true)) {
    return `${path} is kept out by a rule of ${ignoreFileName}, and was never replicated.`;
  }
  const problem = problems.ofPath(path);
  if (problem !== undefined) return problem.detail;
  const detail = `There is nothing at ${path} in the folder of ${self.name}, and no member ever told of it. Check the name.`;
  throw new LockstepError('request-invalid', detail);
}

/**
 * Looks at everything that is at or below `path` now. While the folder is gone nothing in it can be seen, and nothing of it can be
 * promised: it is looked at once it is back. `trouble`: it was not back when it was time to give up. `unread`: directories that could not be
 * listed until then.
 */
async function lookAtAll(
  {
    context: { folder, clock },
    localChanges,
    mounts,
  }: { readonly context: Context; readonly localChanges: FolderLook; readonly mounts: MountCheck },
  path: string,
  expiry: Promise<void>,
  giveUp: () => boolean,
): Promise<{
  readonly unsettled: readonly string[];
  readonly unread: readonly string[];
  readonly trouble?: string | undefined;
}> {
  for (;;) {
    const before = await folder.health();
    if (before.ok) await mounts.check();
    const unsettled = mounts.reason(path) === undefined ? await localChanges.settleAll(path, expiry) : [];
    const after = await folder.health();
    if (after.ok) await mounts.check();
    const hidden = mounts.reason(path);
    const unread = localChanges.unread(path);
    const isSeen = before.ok && after.ok && hidden === undefined;
    if (isSeen && (unread.length === 0 || giveUp())) return { unsettled, unread };
    const trouble = after.detail ?? before.detail ?? hidden ?? 'The folder cannot be read.';
    if (giveUp()) return { unsettled, unread, trouble };
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
      const reason = peer.ready
        ? `${name} has not finished with it${peer.heartbeat?.problems ? `: it reports ${peer.heartbeat.problems} problems` : ''}.`
        : absentReason(name, peer);
      blocking.push({ path: pathToShow(context.journal.operation(dot)), member: peer.id, memberName: name, reason });
    }
  }
  // Several versions of one path may be on their way.
  const distinct = new Map(blocking.map((each) => [JSON.stringify([each.path, each.member, each.reason]), each]));
  return [...distinct.values()].slice(0, listedMax);
}

/** An entry of the member list has a path that no person knows, and no file. */
function pathToShow(operation: Operation | undefined): string | undefined {
  return operation === undefined || isMemberPath(operation.path) ? undefined : operation.path;
}

/** A member that is away holds up whoever waits for all: for ever, when it is lost. */
function absentReason(name: string, peer: Peer): string {
  const why = peer.lastError === undefined ? '' : ` (${peer.lastError})`;
  return (
    `${name} is ${peer.state}${why}. Start it again, or ask for fewer members, as --for majority does. A member that is lost ` +
    'for good is counted until it leaves: no other member can retire it.'
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
