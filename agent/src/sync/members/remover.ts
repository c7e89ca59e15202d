import { type MemberId, memberOf, memberPath } from '@lockstep/shared';
import type { Journal } from '../ports/journal.ts';

/** The member that removed member `id` from the cluster; undefined if none did. A member that retires writes its own entry. */
export function removerOf(journal: Journal, id: MemberId): MemberId | undefined {
  const [entry] = journal.heads(memberPath(id));
  if (entry?.member?.standing !== 'left') return undefined;
  const writer = memberOf(entry.origin);
  return writer === id ? undefined : writer;
}
