/** The part of a cache that copies may take: the rest is for what people read. */
export const copiesShare = 0.9;
/** A member that is so much fuller than that makes its room smaller; one that is so much emptier makes it larger again. */
const fullShare = 0.95;
const emptyShare = 0.7;
const refillShare = 0.85;
/** A room never falls below this part of the cache. */
const leastShare = 1 / 16;

/** A cache, and what is placed in it. */
export interface CopiesLoad {
  /** The room that the member tells the others; undefined if it told none yet. */
  readonly room: number | undefined;
  /** The bytes that its cache may have, less those of what stays there for another reason. */
  readonly bytesMax: number;
  /** The part of them for which the disk has room: other programs fill it, too. */
  readonly roomBytes: number;
  /** The bytes of the contents that are placed on it, whether they are there or not. */
  readonly placedBytes: number;
  /** No other member could take what is over. */
  readonly areOthersFull: boolean;
  /** It told less a short time ago: what was taken from it would come back. */
  readonly fellLately: boolean;
}

/**
 * The room that a member tells the others. Its share of the contents is in proportion to that. So it is the size of its cache until more is
 * placed there than fits into it, or on the disk. Then it tells less, until the rest fits, and the others take what is over. Whole bytes with
 * two digits that count, because each change is an operation.
 */
export function nextRoom(load: CopiesLoad): number {
  const { room, placedBytes, areOthersFull, fellLately } = load;
  const bytesMax = Math.min(load.bytesMax, load.roomBytes);
  const whole = rounded(bytesMax * copiesShare);
  if (room === undefined) return whole;
  // The free bytes of a disk change all the time: they matter only if the placed contents do not fit.
  if (room > rounded(load.bytesMax * copiesShare) || placedBytes > bytesMax * fullShare) {
    if (areOthersFull) return room;
    if (room > whole) return whole;
    const least = Math.min(room, rounded(bytesMax * leastShare));
    return Math.max(least, rounded((room * bytesMax * copiesShare) / placedBytes));
  }
  if (placedBytes >= bytesMax * emptyShare || fellLately) return room;
  const more = placedBytes === 0 ? whole : rounded((room * bytesMax * refillShare) / placedBytes);
  return Math.max(room, Math.min(whole, more));
}

function rounded(bytes: number): number {
  if (bytes < 100) return Math.floor(bytes);
  const unit = 10 ** (Math.floor(Math.log10(bytes)) - 1);
  return Math.floor(bytes / unit) * unit;
}
