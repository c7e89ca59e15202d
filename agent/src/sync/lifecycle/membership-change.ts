import type { MemberId, Operation } from '@lockstep/shared';
import type { OperationWriter } from '../members/operation-writer.ts';
import { writeOwnRecord } from '../members/own-record.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import { Signal } from '../scheduling/signal.ts';
import { until } from '../scheduling/until.ts';
import type { Context } from '../state/context.ts';
import { removeMember, takeBackMember } from './removal.ts';

/** How long `stop` waits for the last messages to be sent. */
const goodbyeMs = 200;

/** The parts of the engine that the functions of this file use. */
interface Parts {
  readonly context: Context;
  readonly operationWriter: OperationWriter;
  readonly peers: Peers;
}

/** Retires this member: the others no longer count it. Resolves with the names of those that hold the retirement. */
export async function retire(parts: Parts, timeoutMs: number): Promise<readonly string[]> {
  const { context, operationWriter, peers } = parts;
  const operation = writeOwnRecord(context, operationWriter, { membership: 'left' });
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
export async function untilSent({ clock, facts }: Context, peers: Peers): Promise<void> {
  const unsent = new Set(peers.ready().flatMap(({ link }) => link ?? []));
  const sent = new Signal();
  for (const link of unsent) {
    link.whenSent(() => {
      unsent.delete(link);
      sent.publish();
    });
  }
  const areAllSent = (): boolean => [...unsent].every((link) => peers.get(link.peer)?.link !== link);
  await until(clock, areAllSent, { facts: [sent, facts.linkEnded], withinMs: goodbyeMs });
}
