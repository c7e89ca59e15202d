import { isMemberPath, memberOf, type Operation, refusedByText, removerIn } from '@lockstep/shared';
import { formatItems } from '@lockstep/shared/present';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';
import type { ReplicaCount } from './replica-count.ts';

/** Number of reasons that are listed. */
export const listedMax = 100;

/** A reason why a wait is not over, for people. */
export interface Blocking {
  readonly path?: string | undefined;
  readonly member?: string | undefined;
  readonly memberName?: string | undefined;
  readonly reason: string;
}

interface Parts {
  readonly context: Context;
  readonly peers: Peers;
  readonly applyLoop: { reason(path: string): string | undefined };
}

/** The reasons why this member and `others` do not hold the operations that a wait counts. */
export function whatBlocks(parts: Parts, others: readonly Peer[], holders: ReplicaCount): readonly Blocking[] {
  const { context, peers } = parts;
  const blocking: Blocking[] = [];
  const own = context.journal.applied();
  // Of each origin the first operation that is missing, and all that a person must do something about.
  const withProblems = context.problems
    .list()
    .flatMap(({ path }) => (path === undefined ? [] : context.journal.heads.at(path)))
    .filter((head) => holders.lacks(own, head));
  for (const dot of [...holders.missing(own, listedMax), ...withProblems]) {
    const operation = context.journal.log.operation(dot);
    if (operation === undefined) continue;
    const { path } = operation;
    const why =
      context.problems.ofPath(path)?.detail ?? parts.applyLoop.reason(path) ?? siblingReason(context, operation);
    blocking.push({ path: pathToShow(operation), member: context.self.id, memberName: context.self.name, reason: why });
  }
  for (const peer of others) {
    for (const dot of holders.missing(peer.applied, listedMax)) {
      const name = peers.nameOf(peer.id);
      const problems = peer.said?.problems ?? 0;
      const report = problems === 0 ? '' : `: it reports ${formatItems(problems, 'problem')}`;
      const isHeard = peer.ready || peer.passedOn !== undefined;
      const reason = isHeard ? `${name} has not finished with it${report}.` : absentReason(name, peer, parts);
      blocking.push({
        path: pathToShow(context.journal.log.operation(dot)),
        member: peer.id,
        memberName: name,
        reason,
      });
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
function absentReason(name: string, peer: Peer, { context, peers }: Parts): string {
  if (peers.isPaused) return `This member is paused, so ${name} gets nothing from it. Run lockstep resume here.`;
  if (peer.lastError !== undefined && removerIn(peer.lastError) !== undefined)
    return refusedByText(name, peer.lastError);
  const refusal = refusalAt(peers.record(peer.id)?.addresses ?? [], context);
  if (refusal !== undefined) return `${name} is not heard: ${refusal}`;
  const orFewer = 'or ask for fewer members, as --for majority does.';
  if (peer.paused) return `${name} is paused. Run lockstep resume on that machine, ${orFewer}`;
  if (peers.record(peer.id)?.mayBeAway === true)
    return `${name} is away, and is marked as a member that may be. It is counted: wait until it is back, ${orFewer}`;
  if (peer.stopped) return `${name} is shut down. Start it again, ${orFewer}`;
  // It runs: its agent need not be started.
  const failing = context.problems.list().find(({ code, member }) => code === 'session-failing' && member === name);
  if (failing !== undefined) return failing.detail;
  const why = peer.lastError === undefined ? '' : ` (${peer.lastError})`;
  return (
    `${name} is not heard${why}. Start it again, ${orFewer} A member that is lost for good is counted until lockstep remove ` +
    `${peers.wordFor(peer.id)} retires it.`
  );
}

/** The problem of a refused session at one of these addresses, as a sentence that says what to do: the member there runs. */
export function refusalAt(addresses: readonly string[], { problems }: Context): string | undefined {
  return problems
    .list()
    .find(({ code, member }) => code === 'member-refused' && member !== undefined && addresses.includes(member))
    ?.detail;
}

function siblingReason(context: Context, operation: Operation): string {
  if (operation.member !== undefined)
    return `The entry of ${operation.member.name} in the member list is not joined yet.`;
  if (context.journal.disk.at(operation.path)?.unsynced) {
    const failed = context.problems.list().find(({ code }) => code === 'sync-failed');
    return failed?.detail ?? `${operation.path} is not durable on this disk yet.`;
  }
  if (context.journal.heads.at(operation.path).length < 2) return `${operation.path} is not on this disk yet.`;
  const origin = memberOf(operation.origin);
  const name = context.journal.members.all().find(({ id }) => id === origin)?.name ?? origin.slice(0, 8);
  return `${operation.path} has concurrent versions that are not joined yet; ${name} has one of them.`;
}
