import { LockstepError, type MemberRecord } from '@lockstep/shared';
import type { Engine } from '../../sync/engine.ts';

/**
 * The member that is named by its name, or by its id or the start of it. With `preferred`, one that left is meant only if no member of that
 * membership is. Throws `request-invalid` if no member or several are meant.
 */
export function findMember(
  { context: { journal } }: Engine,
  member: string,
  preferred?: MemberRecord['membership'],
): MemberRecord {
  const members = journal.members.all();
  const first = matching(
    members.filter(({ membership }) => membership === preferred),
    member,
  );
  const meant = first.length > 0 ? first : matching(members, member);
  const [only, ...others] = meant;
  if (only === undefined) {
    const names = members.map(({ name }) => name).sort();
    throw new LockstepError(
      'request-invalid',
      `No member is called ${JSON.stringify(member)}. The members are ${names.join(', ')}.`,
    );
  }
  if (others.length > 0) {
    const ids = meant.map(({ id, name }) => `${name} (${id.slice(0, 8)})`);
    throw new LockstepError('request-invalid', `${member} can be ${ids.join(' or ')}. Give the start of the id.`);
  }
  return only;
}

function matching(members: readonly MemberRecord[], member: string): readonly MemberRecord[] {
  const named = members.filter(({ name }) => name === member);
  return named.length > 0 || member === '' ? named : members.filter(({ id }) => id.startsWith(member));
}
