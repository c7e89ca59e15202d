import { LockstepError } from '@lockstep/shared';
import type { LeaveRequest, LeaveResult, RemoveMemberRequest, RemoveMemberResult } from '@lockstep/shared/api';
import { formatBytes, formatItems, formatNames } from '@lockstep/shared/present';
import type { Engine } from '../../sync/engine.ts';
import { changeMembership, retire } from '../../sync/lifecycle/membership-change.ts';
import { findOnlyHere } from '../../sync/wait/only-here.ts';
import type { ServedMember } from '../served-member.ts';
import { findMember } from './find-member.ts';

const goodbyeMs = 2_000;
/** Time for another member to receive what was written just before. */
const receivedMsMax = 5_000;
/** A scan of the folder, which comes before, takes much less for each entry. */
const scanMsPerPath = 0.1;

/**
 * Resolves once the retirement is journaled and was sent to the connected members; the agent then stops. Throws `not-left` if no other member
 * has some of the files here, or some are not journaled yet, unless it is to leave `anyway`.
 */
export async function leaveCluster({ engine, retired }: ServedMember, request: LeaveRequest): Promise<LeaveResult> {
  if (!request?.anyway) await refuseLastCopies(engine);
  const told = await retire(engine, goodbyeMs);
  setImmediate(retired);
  return { told: [...told] };
}

async function refuseLastCopies(engine: Engine): Promise<void> {
  const { context, peers } = engine;
  const others = peers.all().filter(({ state }) => state !== 'left');
  if (others.length === 0) return;
  const { disk } = context.journal.totals.counts();
  const timeoutMs = receivedMsMax + scanMsPerPath * (disk.files + disk.directories);
  const { done, isUnjournaled, blocking } = await engine.wait({ for: 2, timeoutMs }, () => false);
  if (done) return;
  if (isUnjournaled) {
    const reason = blocking[0]?.reason ?? 'The folder cannot be read.';
    throw new LockstepError(
      'not-left',
      `Something in the folder is not journaled yet, and only this member has it. ${reason} Try again when that has ended. ` +
        'To leave anyway, and take it with you: lockstep leave --anyway.',
    );
  }
  const { files, bytes, paths } = await findOnlyHere(context, engine);
  if (files === 0) return;
  const remedy = others.every(({ id }) => peers.isOnDemand(id))
    ? 'Have copies made first (lockstep copies 2, then lockstep copies again until none is lacking).'
    : 'Wait until another member has all of it first (lockstep wait --for 2).';
  const [names, more] = [formatNames(paths), files > paths.length ? ', for example' : ':'];
  throw new LockstepError(
    'not-left',
    `${formatItems(files, 'file')} with ${formatBytes(bytes)} ${files === 1 ? 'is' : 'are'} on this member only${more} ${names}. ` +
      `${remedy} To leave anyway, and take them with you: lockstep leave --anyway.`,
  );
}

/**
 * Removes a member from the cluster, or takes it back; named by its name or the start of its id. Throws `request-invalid` if no member or
 * several are meant, and `not-removed`.
 */
export async function removeMember(engine: Engine, request: RemoveMemberRequest): Promise<RemoveMemberResult> {
  const { member, undo = false } = request;
  const { id, name } = findMember(engine, member);
  return { name, told: [...(await changeMembership(engine, id, undo, goodbyeMs))] };
}
