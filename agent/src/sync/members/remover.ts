import { type MemberId, memberOf, memberPath } from '@lockstep/shared';
import { stampMs } from '../../core/hlc.ts';
import type { Journal } from '../ports/journal.ts';

/** The member that removed member `id` from the cluster; undefined if none did. A member that retires writes its own entry. */
export function removerOf(journal: Journal, id: MemberId): MemberId | undefined {
  const [entry] = journal.heads.at(memberPath(id));
  if (entry?.member?.membership !== 'left') return undefined;
  const writer = memberOf(entry.origin);
  return writer === id ? undefined : writer;
}

/** When member `id` left or was removed, milliseconds since the epoch; undefined if it takes part. */
export function leftAt(journal: Journal, id: MemberId): number | undefined {
  const [entry] = journal.heads.at(memberPath(id));
  return entry?.member?.membership === 'left' ? stampMs(entry.hlc) : undefined;
}
