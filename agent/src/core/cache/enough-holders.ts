import type { Copies } from '../copies/copies-rules.ts';

/** Another member, and whether it said that it has a content and does not drop it. */
export interface PossibleHolder {
  /** It has the contents of some files only. */
  readonly isOnDemand: boolean;
  readonly hasIt: boolean;
}

/**
 * True if enough other members have a content for this one to drop it: as many as a person wants (`copies`). If they want it on all: one with
 * the whole folder; of what was written here (`isOwn`), all that have the whole folder. In a cluster without such members, another one that
 * fetches on demand.
 */
export function areEnoughHolders(
  others: readonly PossibleHolder[],
  { isOwn, copies }: { readonly isOwn: boolean; readonly copies: Copies },
): boolean {
  if (copies !== 'all') return others.filter(({ hasIt }) => hasIt).length >= copies;
  const full = others.filter((member) => !member.isOnDemand);
  if (full.length === 0) return others.some(({ hasIt }) => hasIt);
  return isOwn ? full.every(({ hasIt }) => hasIt) : full.some(({ hasIt }) => hasIt);
}
