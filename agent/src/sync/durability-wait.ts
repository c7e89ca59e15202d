import { isMemberPath, LockstepError, memberOf, type Operation } from '@lockstep/shared';
import { ignoreFileName } from '../core/ignore-rules.ts';
import { majorityOf } from '../core/membership.ts';
import type { Context } from './context.ts';
import { Holders } from './holders.ts';
import type { LocalChanges } from './local-changes.ts';
import type { Peer, Peers } from './peers.ts';
import type { Timer } from './ports/clock.ts';
import { goalOf } from './wait-goal.ts';

const listedMax = 100;
const checkIntervalMs = 20;

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

/**
 * Waits until everything that was on this member's disk when it was called, noticed or not, is durable on so many members.
 * What is not journaled yet is looked for by a scan; after that it is counting (DESIGN 7). Throws 'request-invalid' for what can never
 * end: more members than there are, a path that nobody ever told of.
 */
export async function waitForDurability(
  parts: {
    readonly context: Context;
    readonly peers: Peers;
    readonly localChanges: LocalChanges;
    readonly reason: (path: string) => string | undefined;
    readonly aborted: () => boolean;
  },
  query: WaitQuery,
): Promise<WaitOutcome> {
  const { context, peers, localChanges } = parts;
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
  const giveUp = (): boolean => elapsedMs() >= query.timeoutMs || parts.aborted();
  const { unsettled, trouble } = await lookAtAll(context, localChanges, query.path ?? '', expiry, giveUp);
  timer?.cancel();
  if (trouble !== undefined) {
    const blocking = [{ path: query.path, reason: trouble }];
    return { done: false, wanted, holding: 0, members, elapsedMs: elapsedMs(), blocking };
  }
  if (unsettled.length > 0) {
    const blocking = unsettled.slice(0, listedMax).map((path) => ({
      path,
      reason:
        context.problems.ofPath(path)?.detail ?? `${path} keeps changing, or is still being read, on this member.`,
    }));
    return { done: false, wanted, holding: 0, members, elapsedMs: elapsedMs(), blocking };
  }
  const kept = query.path === undefined ? undefined : whyNotReplicated(context, query.path);
  if (kept !== undefined) {
    const blocking = [{ path: query.path, member: context.self.id, memberName: context.self.name, reason: kept }];
    return { done: false, wanted, holding: 0, members, elapsedMs: elapsedMs(), blocking };
  }
  const holders = new Holders(context, goalOf(context, query.path));
  for (;;) {
    const holding = holders.count(others);
    if (holding >= wanted) return { done: true, wanted, holding, members, elapsedMs: elapsedMs(), blocking: [] };
    if (giveUp()) {
      const blocking = explain(parts, others, holders);
      return { done: false, wanted, holding, members, elapsedMs: elapsedMs(), blocking };
    }
    await new Promise<void>((resolve) => clock.after(checkIntervalMs, resolve));
  }
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
 * promised: it is looked at once it is back. `trouble`: it was not back when it was time to give up.
 */
async function lookAtAll(
  { folder, clock }: Context,
  localChanges: LocalChanges,
  path: string,
  expiry: Promise<void>,
  giveUp: () => boolean,
): Promise<{ readonly unsettled: readonly string[]; readonly trouble?: string | undefined }> {
  for (;;) {
    const before = await folder.health();
    const unsettled = await localChanges.settleAll(path, expiry);
    const after = await folder.health();
    if (before.ok && after.ok) return { unsettled };
    if (giveUp()) return { unsettled, trouble: after.detail ?? before.detail ?? 'The folder cannot be read.' };
    await new Promise<void>((resolve) => clock.after(checkIntervalMs, resolve));
  }
}

function explain(
  parts: { readonly context: Context; readonly peers: Peers; readonly reason: (path: string) => string | undefined },
  others: readonly Peer[],
  holders: Holders,
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
  return blocking.slice(0, listedMax);
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
  if (context.journal.heads(operation.path).length < 2) return `${operation.path} is not on this disk yet.`;
  const origin = memberOf(operation.origin);
  const name = context.journal.members().find(({ id }) => id === origin)?.name ?? origin.slice(0, 8);
  return `${operation.path} has concurrent versions that are not joined yet; ${name} has one of them.`;
}
