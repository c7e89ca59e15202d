import type { Journey, JourneyStop } from '@lockstep/shared/api';

export type StepName = 'sent' | 'journaled' | 'on disk' | 'shown';

/** One step of an operation on its way to one member. */
export interface JourneyStep {
  readonly name: StepName;
  /** `unknown`: it is done, but its time was not recorded. */
  readonly state: 'done' | 'unknown' | 'open';
  readonly at: number | undefined;
  /** Milliseconds since the operation was made; never negative, although clocks differ. */
  readonly sinceMs: number | undefined;
  /** Milliseconds since the previous step with a known time. */
  readonly tookMs: number | undefined;
}

/** The steps to one member, in their order. `sent` is one of them only if the asked member sent the operation itself. */
export function stepsOf({ madeAt }: Journey, stop: JourneyStop): readonly JourneyStep[] {
  const { pushedAt, receivedAt, appliedAt, received, applied, onDemand } = stop;
  const raw: readonly { name: StepName; at: number | null; isDone: boolean }[] = [
    ...(pushedAt === null ? [] : [{ name: 'sent' as const, at: pushedAt, isDone: true }]),
    { name: 'journaled', at: receivedAt, isDone: received },
    // A member on demand shows the new version: its bytes come when they are read.
    { name: onDemand ? 'shown' : 'on disk', at: appliedAt, isDone: applied },
  ];
  let beforeMs = 0;
  return raw.map(({ name, at, isDone }): JourneyStep => {
    if (!isDone) return { name, state: 'open', at: undefined, sinceMs: undefined, tookMs: undefined };
    if (at === null) return { name, state: 'unknown', at: undefined, sinceMs: undefined, tookMs: undefined };
    const sinceMs = Math.max(0, at - madeAt, beforeMs);
    const tookMs = sinceMs - beforeMs;
    beforeMs = sinceMs;
    return { name, state: 'done', at, sinceMs, tookMs };
  });
}

/**
 * The position of a time on the line, from 0 to 1. A member that was away receives an operation hours after the others: on a logarithmic
 * scale the milliseconds of the others stay readable.
 */
export function placeOnLine(sinceMs: number, longestMs: number): number {
  return longestMs <= 0 ? 0 : Math.min(1, Math.log1p(sinceMs) / Math.log1p(longestMs));
}

/** The time of the last step: the length of the line. */
export function longestOf(journey: Journey): number {
  const all = journey.stops.flatMap((stop) => stepsOf(journey, stop).map(({ sinceMs }) => sinceMs ?? 0));
  return Math.max(1, ...all);
}
