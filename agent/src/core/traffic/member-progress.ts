/** The progress that a member reports of itself. */
export interface SaidProgress {
  /** Bytes of all files, as far as it knows their operations. */
  readonly totalBytes: number;
  /** Those that are neither in place on its disk nor staged. */
  readonly missingBytes: number;
  readonly bytesPerSecond?: number | undefined;
}

/** How much of the newest contents a member has. */
export interface MemberProgress {
  readonly there: number;
  readonly total: number;
  /** 0 if it has stalled, null while it is not known. */
  readonly bytesPerSecond: number | null;
  readonly secondsLeft: number | null;
}

/**
 * The progress of a member; undefined if it lacks no bytes. `knownTotals`: the `totalBytes` of the members that know what it does not know
 * yet, empty when it knows all.
 */
export function memberProgress(said: SaidProgress, knownTotals: readonly number[]): MemberProgress | undefined {
  const { totalBytes, missingBytes, bytesPerSecond } = said;
  const there = totalBytes - missingBytes;
  const total = Math.max(totalBytes, ...knownTotals);
  if (there >= total) return undefined;
  const secondsLeft = bytesPerSecond ? (total - there) / bytesPerSecond : null;
  return { there, total, bytesPerSecond: bytesPerSecond ?? null, secondsLeft };
}

/** A file on its way, as far as its place in a list depends on it. */
export interface MovingFile {
  readonly path: string;
  readonly bytesLeft: number;
  readonly bytesPerSecond: number;
}

/**
 * The order in which files on their way are listed: those that move first, and of these and of the others those with the fewest bytes left.
 * So the next file to arrive is at the top, and a large one does not hide many small ones.
 */
export function compareMoving(a: MovingFile, b: MovingFile): number {
  const isMoving = ({ bytesPerSecond }: MovingFile): number => Number(bytesPerSecond > 0);
  return isMoving(b) - isMoving(a) || a.bytesLeft - b.bytesLeft || (a.path < b.path ? -1 : 1);
}
