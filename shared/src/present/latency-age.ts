import type { MemberReport } from '../api.ts';
import { suspectAfterMs } from '../heartbeat-pace.ts';
import { formatDuration, formatRoundTrip } from './units.ts';

/** A round trip for a reader. */
export interface Figure {
  /** Smoothed, in milliseconds. */
  readonly rttMs: number;
  /** For how long it was not measured or reported, in milliseconds; undefined while it is current. */
  readonly staleMs: number | undefined;
}

/**
 * The last known round trip from one member to another at `now`, by the clock of the asked member; undefined without a session. `members`:
 * all members of the cluster. A figure of the asked member is as old as its last news of the other end. A figure of another member is as old as
 * the last news of that member.
 */
export function roundTrip(
  {
    from,
    to,
    members,
  }: { readonly from: MemberReport; readonly to: MemberReport; readonly members: readonly MemberReport[] },
  now: number,
): Figure | undefined {
  const rttMs = from.latenciesMs?.[to.id];
  if (rttMs === undefined || from.condition === 'down' || from.condition === 'away') return undefined;
  const heardAt = [from, to].flatMap(({ self, condition, lastSeenAt }, end) => {
    // Other members pass on what a member says that is cut off from the asked one.
    if (self || condition === 'cut-off') return [];
    // A third member may still hear an end that is silent here, but nothing here proves it.
    const isAsked = end === 0 || from.self || ['silent', 'away', 'down'].includes(condition);
    return isAsked ? (lastSeenAt ?? now) : [];
  });
  const ageMs = now - Math.min(now, ...heardAt);
  const taking = members.filter(({ condition }) => condition !== 'left').length;
  return { rttMs, staleMs: ageMs >= suspectAfterMs(taking) ? ageMs : undefined };
}

/** `12 ms`, and for a stale figure `12 ms, not measured for 5 s`. */
export function describeFigure({ rttMs, staleMs }: Figure): string {
  const text = formatRoundTrip(rttMs);
  return staleMs === undefined ? text : `${text}, not measured for ${formatDuration(staleMs / 1_000)}`;
}

/** `12 ms`, and for a stale figure `(12 ms)`. */
export function shortFigure({ rttMs, staleMs }: Figure): string {
  const text = formatRoundTrip(rttMs);
  return staleMs === undefined ? text : `(${text})`;
}
