import { LockstepError, type MemberRecord } from '@lockstep/shared';
import type { Engine } from '../../sync/engine.ts';

/** The member that is named by its name, or by its id or the start of it. Throws `request-invalid` if no member or several are meant. */
export function findMember({ context: { journal } }: Engine, member: string): MemberRecord {
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
  return only;
}
