import type { Copies } from '../copies/copies-rules.ts';

/** Another member, and what is known of a content there. */
export interface PossibleHolder {
  /** It has the contents of some files only. */
  readonly isOnDemand: boolean;
  /** It said now that it has the content and does not drop it. */
  readonly hasIt: boolean;
  /** It is away, still counts as a member that keeps the content, and had it by what it told last. */
  readonly hadIt: boolean;
}

/**
 * True if enough other members have a content for this one to drop it: as many as a person wants (`copies`). A file that was only read here
 * is no copy of its own: one member must have it now, and the others may be away. If a person wants it on all members: one with the whole
 * folder; of a file written here (`isOwn`), all that have the whole folder. In a cluster without such members, another one that fetches on
 * demand.
 */
export function areEnoughHolders(
  others: readonly PossibleHolder[],
  { isOwn, copies }: { readonly isOwn: boolean; readonly copies: Copies },
): boolean {
  const having = others.filter(({ hasIt }) => hasIt);
  if (copies !== 'all') {
    const away = isOwn || having.length === 0 ? [] : others.filter(({ hasIt, hadIt }) => hadIt && !hasIt);
    return having.length + away.length >= copies;
  }
  const full = others.filter((member) => !member.isOnDemand);
  if (full.length === 0) return having.length > 0;
  return isOwn ? full.every(({ hasIt }) => hasIt) : full.some(({ hasIt }) => hasIt);
}
