import { type MemberId, memberPath, type Operation } from '@lockstep/shared';
import type { OperationWriter } from '../members/operation-writer.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import type { Clock } from '../ports/clock.ts';
import { until } from '../scheduling/until.ts';
import type { Context } from '../state/context.ts';
import { removeMember, takeBackMember } from './removal.ts';

/** How long `stop` waits for the last messages to be sent. */
const goodbyeMs = 200;
const queueCheckMs = 5;

/** What the functions of this file use of the engine. */
interface Parts {
  readonly context: Context;
  readonly operationWriter: OperationWriter;
  readonly peers: Peers;
}

/** Retires this member: the others no longer count it. Resolves with the names of those that hold the retirement. */
export async function retire(parts: Parts, timeoutMs: number): Promise<readonly string[]> {
  const { context, operationWriter, peers } = parts;
  const operation = announce(context, operationWriter, 'left');
  const informed = await untilInformed(context, peers, operation, timeoutMs);
  peers.broadcast({ type: 'leave', retire: true });
  return informed.map((peer) => peers.nameOf(peer.id));
}

/**
 * Removes a lost member from the cluster, or takes it back. Resolves with the names of those that hold it. Throws as `removeMember` and
 * `takeBackMember`.
 */
export async function changeMembership(
  parts: Parts,
  id: MemberId,
  isUndone: boolean,
  timeoutMs: number,
): Promise<readonly string[]> {
  const { context, peers } = parts;
  const operation = isUndone ? takeBackMember(parts, id) : removeMember(parts, id);
  peers.refreshStates();
  const informed = await untilInformed(context, peers, operation, timeoutMs);
  return informed.map((peer) => peers.nameOf(peer.id));
}

/** Writes this member's entry into the member list unless it is already there. Returns the operation of the entry. */
export function announce(
  { journal, self }: Context,
  operationWriter: OperationWriter,
  membership: 'joined' | 'left',
): Operation | undefined {
  const path = memberPath(self.id);
  const heads = journal.heads(path);
  const [known] = heads;
  const { id, name, addresses, mayBeAway, onDemand } = self;
  const flags = { ...(mayBeAway && { mayBeAway }), ...(onDemand && { onDemand }) };
  const member = { id, name, addresses, standing: membership, ...flags };
  if (heads.length === 1 && JSON.stringify(known?.member) === JSON.stringify(member)) return known;
  return operationWriter.commit([{ path, kind: 'member', member, parents: heads }]).operations[0];
}

/** Resolves with the members that have `operation` in their journal, once all reachable ones have it or after `timeoutMs`. */
async function untilInformed(
  { clock, facts }: Context,
  peers: Peers,
  operation: Operation | undefined,
  timeoutMs: number,
): Promise<readonly Peer[]> {
  const informed = (): readonly Peer[] =>
    peers.ready().filter((peer) => operation && (peer.known[operation.origin] ?? 0) >= operation.seq);
  const { acknowledged, sessionOpened, sessionClosed, second } = facts;
  const areAllInformed = (): boolean => informed().length === peers.ready().length;
  await until(clock, areAllInformed, {
    facts: [acknowledged, sessionOpened, sessionClosed, second],
    withinMs: timeoutMs,
  });
  return informed();
}

/** Resolves when all messages queued for the others have been handed to the kernel, or after `goodbyeMs`. */
export async function untilDrained(clock: Clock, peers: Peers): Promise<void> {
  const untilMs = clock.monotonicMs() + goodbyeMs;
  const queued = (): boolean => peers.ready().some((peer) => (peer.link?.queuedBytes() ?? 0) > 0);
  while (queued() && clock.monotonicMs() < untilMs) {
    await new Promise<void>((resolve) => clock.after(queueCheckMs, resolve));
  }
}
