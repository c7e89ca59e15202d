import type { Journey, Status } from '@lockstep/shared/api';

/**
 * Changes whenever the way of operation `seq` of `origin` may have gone on. Who holds it already has nothing more to tell but its state;
 * of the others it counts what they know and lack.
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
