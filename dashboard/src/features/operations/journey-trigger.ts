import type { Journey, Status } from '@lockstep/shared/api';

/**
 * A text that changes whenever the journey of operation `seq` of `origin` may have continued. For a member that holds the operation only
 * the state counts; for the others also whether they know it and how much they lack.
 */
export function journeyTrigger(
  { members, version }: Pick<Status, 'members' | 'version'>,
  { origin, seq }: { readonly origin: string; readonly seq: number },
  journey: Journey | undefined,
): string {
  const holders = new Set(journey?.stops.flatMap(({ member, applied }) => (applied ? member : [])));
  return members
    .map(({ id, self, state, behind, version: known }) => {
      if (holders.has(id)) return `${id} ${state}`;
      const isThere = seq <= ((self ? version : known)?.[origin] ?? 0);
      return `${id} ${state} ${isThere} ${behind}`;
    })
    .join();
}
