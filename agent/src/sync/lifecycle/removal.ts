import { LockstepError, type MemberId, memberPath, type Operation } from '@lockstep/shared';
import type { OperationWriter } from '../members/operation-writer.ts';
import type { Peers } from '../members/peers.ts';
import { removerOf } from '../members/remover.ts';
import type { Context } from '../state/context.ts';

interface Parts {
  readonly context: Context;
  readonly operationWriter: OperationWriter;
  readonly peers: Peers;
}

/**
 * Writes into the member list that member `id` has left: it is not waited for, and refused if it comes back. Returns the operation.
 * Throws `not-removed` unless the member is down.
 */
export function removeMember(parts: Parts, id: MemberId): Operation | undefined {
  const { context, peers } = parts;
  const name = peers.nameOf(id);
  if (id === context.self.id) throw refused(`${name} is this member. To retire it, run lockstep leave in its folder.`);
  const peer = peers.get(id);
  if (peer?.state === 'left') {
    if (removerOf(context.journal, id) !== undefined) return undefined;
    throw refused(`${name} has left the cluster already.`);
  }
  if (peer?.state === 'suspect') throw refused(`${name} was heard a moment ago. Try again when it is shown as down.`);
  if (peer?.state !== 'down') throw refused(`${name} is up. To retire it, run lockstep leave in its folder.`);
  return write(parts, id, 'left');
}

/** Takes a removed member back. Returns the operation. Throws `not-removed` if it was not removed. */
export function takeBackMember(parts: Parts, id: MemberId): Operation | undefined {
  const { context, peers } = parts;
  if (removerOf(context.journal, id) === undefined) {
    throw refused(`${peers.nameOf(id)} was not removed. lockstep status lists the members.`);
  }
  return write(parts, id, 'joined');
}

function write(
  { context: { journal }, operationWriter }: Parts,
  id: MemberId,
  membership: 'joined' | 'left',
): Operation | undefined {
  const path = memberPath(id);
  const heads = journal.heads.at(path);
  const known = heads[0]?.member;
  if (known === undefined) throw refused(`The member list has no entry of ${id.slice(0, 8)} yet. Try again later.`);
  const member = { ...known, membership };
  return operationWriter.commit([{ path, kind: 'member', member, parents: heads }]).operations[0];
}

function refused(message: string): LockstepError {
  return new LockstepError('not-removed', message);
}
