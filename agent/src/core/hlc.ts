/** Stamps per millisecond. A stamp is `milliseconds × 1024 + counter`, a safe integer until the year 2248. */
const stampsPerMs = 1024;

/** The largest stamp, so that all arithmetic on stamps is exact whatever a peer sends. */
const stampMax = Number.MAX_SAFE_INTEGER;

/**
 * The stamp of a new operation (a hybrid logical clock). It is not before the wall clock, and later than `last` (the clock of this member)
 * and every stamp in `parents` (the operations it replaces). Only at the end of the range, which no correct clock reaches before 2248, can
 * the stamp equal those that it follows. Stamps choose names, never whether there is a conflict, so nothing is lost then.
 *
 * The caller passes the result through `mergeStamp` too, as if it were remote, to advance `last`. So an edit of a file whose stamp lies a
 * day ahead follows that stamp, and the member's other edits do not.
 */
export function nextStamp(input: {
  readonly wallMs: number;
  readonly last: number;
  readonly parents: readonly number[];
}): number {
  let stamp = Math.max(stampOfMs(input.wallMs), input.last + 1);
  for (const parent of input.parents) stamp = Math.max(stamp, parent + 1);
  return Math.min(stamp, stampMax);
}

/**
 * `last`, advanced by a stamp that was seen; it never goes back. A stamp further than `driftMsMax` ahead of the wall clock advances it to
 * that bound only. One member with a wrong clock must not advance the clocks of all.
 */
export function mergeStamp(input: {
  readonly last: number;
  readonly remote: number;
  readonly wallMs: number;
  readonly driftMsMax: number;
}): number {
  const bound = stampOfMs(input.wallMs + input.driftMsMax);
  return Math.max(input.last, Math.min(input.remote, bound));
}

/** The time of a stamp in milliseconds since the epoch, for people. */
export function stampMs(hlc: number): number {
  return Math.floor(hlc / stampsPerMs);
}

/**
 * The first stamp of a time in milliseconds. A time before 1970 or NaN counts as 0: stamps must stay integers whatever the machine's clock
 * says.
 */
export function stampOfMs(ms: number): number {
  return Math.min(Math.max(0, Math.floor(ms) || 0) * stampsPerMs, stampMax);
}
