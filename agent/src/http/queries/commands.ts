import { LockstepError } from '@lockstep/shared';
import type {
  LeaveResult,
  RemoveMemberRequest,
  RemoveMemberResult,
  RescanResult,
  WaitRequest,
  WaitResult,
} from '@lockstep/shared/api';
import type { Engine } from '../../sync/engine.ts';
import type { ServedMember } from '../served-member.ts';

const goodbyeMs = 2_000;

/** Waits as the request asks. An aborted signal means that the client disconnected: the result is dropped. */
export async function waitFor(engine: Engine, request: WaitRequest, signal: AbortSignal): Promise<WaitResult> {
  const outcome = await engine.wait(request, () => signal.aborted);
  return { ...outcome, blocking: outcome.blocking.map((blocking) => ({ ...blocking })) };
}

/** Resolves once the retirement is journaled and was sent to the connected members; the agent then stops. */
export async function leaveCluster({ engine, retired }: ServedMember): Promise<LeaveResult> {
  const told = await engine.retire(goodbyeMs);
  setImmediate(retired);
  return { told: [...told] };
}

/**
 * Removes a member from the cluster, or takes it back; named by its name or the start of its id. Throws `request-invalid` if no member or
 * several are meant, and `not-removed`.
 */
export async function removeMember(engine: Engine, request: RemoveMemberRequest): Promise<RemoveMemberResult> {
  const { member, undo = false } = request;
  const { journal } = engine.context;
  const members = journal.members();
  const named = members.filter(({ name }) => name === member);
  const meant = named.length > 0 ? named : members.filter(({ id }) => id.startsWith(member));
  const [only, ...others] = meant;
  if (only === undefined) {
    const names = members.map(({ name }) => name).sort();
    throw new LockstepError('request-invalid', `No member is called ${member}. The members are ${names.join(', ')}.`);
  }
  if (others.length > 0) {
    const ids = meant.map(({ id, name }) => `${name} (${id.slice(0, 8)})`);
    throw new LockstepError('request-invalid', `${member} can be ${ids.join(' or ')}. Give the start of the id.`);
  }
  return { name: only.name, told: [...(await engine.remove(only.id, undo, goodbyeMs))] };
}

/** Compares the whole folder with the journal. */
export async function rescanFolder(engine: Engine): Promise<RescanResult> {
  const startMs = performance.now();
  const { operations } = await engine.rescan();
  return { operations, elapsedMs: performance.now() - startMs };
}
