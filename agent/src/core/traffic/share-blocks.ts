import { blockBytes, blocksInFlightMax, blocksInFlightPerSourceMax } from '@lockstep/shared';

/** A member from which blocks of a large content can be fetched. */
export interface ShareSource {
  /** It has all blocks. Any other one has some, because it fetches the content itself. */
  readonly hasAll: boolean;
  /** It may have none: no member is known to have the content. */
  readonly isGuess: boolean;
  readonly roundTripMs: number;
  /** The rate at which it sends what is requested. Undefined if that was never measured. */
  readonly bytesPerMs: number | undefined;
  /** The requests to it that are not answered, for any content, and their bytes. */
  readonly requests: number;
  readonly requestedBytes: number;
  /** It has sent nothing for a while although it was asked. */
  readonly isStalled: boolean;
  /** The next block to request from it, of those that are requested from no member. */
  readonly next: number | undefined;
  /** Another source offers that block as well. */
  readonly isNextOffered: boolean;
}

/** A block that is requested from a source. */
export interface PendingBlock<Source> {
  readonly index: number;
  readonly source: Source;
  /** The bytes that come from the source up to the end of this block. */
  readonly aheadBytes: number;
}

/** The state of the fetch of one content. */
export interface Sharing<Source> {
  readonly sources: readonly Source[];
  readonly pending: readonly PendingBlock<Source>[];
  /** The bytes of all blocks that are not here. */
  readonly missingBytes: number;
  /** Other members fetch it as well. */
  readonly isShared: boolean;
  /** The time since one of them had another block. */
  readonly quietMs: number;
  has(source: Source, index: number): boolean;
  /** The places from the member that fetches the block first to this one; 0 if this one does. */
  distance(index: number): number;
}

/** The rate that is assumed of a source that was never measured: that of a fast line to a home. */
const assumedBytesPerMs = 10_000;
/**
 * If the members that have the content send this much, no others are asked: half of a gigabit line. At such rates processors are the limit,
 * and a block that comes over another member costs them twice.
 */
const amplyBytesPerMs = 64_000;
/** A source is busy until a further request can reach it if this much time of its rate is requested. */
const aheadMs = 150;
/** Requests to a source that was not measured, or is slow: one on its way while the other is answered. */
const placesMin = 2;
/** A block is requested a second time if the other source is expected to send it at least so much earlier. */
const clearlyLater = 2;
const clearlyLaterMs = 200;
/** A source is slow if a block takes it this long, and so many round trips: an empty line for one of them costs little. */
const slowBlockMs = 500;
const slowBlockRoundTrips = 4;
/** The time for a block that is assumed of a source that was never measured. */
const unknownBlockMs = 2_500;
/** Others that have not got another block in the time for so many will not bring theirs. */
const quietBlocks = 2;
/** However slow a source was lately, it is asked after this time without news of the others. */
const leftMsMax = 120_000;
/** Estimates differ by as much from what happens. */
const slackMs = 50;

/**
 * The next request for a block of a large content; undefined if none is worth making now. All members that have the content are asked at
 * once, and the one that is expected to answer first comes first: so a fast one gets more of them. At the end a slow one gets no block that
 * the others send earlier. A block that is outstanding at a slow one is then requested from a fast one as well.
 */
export function nextRequest<Source extends ShareSource>(
  sharing: Sharing<Source>,
): { readonly source: Source; readonly index: number } | undefined {
  const sources = worthAsking(sharing.sources);
  const { pending } = sharing;
  const isAlone = sources.length === 1 && !sharing.isShared;
  if (pending.length >= blocksInFlightMax && !isAlone) return undefined;
  const free = sources.filter((source) => source.requests < (isAlone ? blocksInFlightPerSourceMax : placesOf(source)));
  const able = free.filter(({ isStalled }) => isAlone || !isStalled).sort((a, b) => expectedMs(a) - expectedMs(b));
  for (const source of able) {
    if (source.next === undefined || isLeftToOthers(source, source.next, sharing)) continue;
    // Two sources may leave a block to each other.
    if (pending.length === 0 || isWorthwhile(source, sharing)) return { source, index: source.next };
  }
  return secondRequest(able, sharing);
}

/** Without those that have only some blocks, if the others are fast. */
function worthAsking<Source extends ShareSource>(sources: readonly Source[]): readonly Source[] {
  const holders = sources.filter(({ hasAll }) => hasAll);
  return rateOf(holders.filter(({ isStalled }) => !isStalled)) >= amplyBytesPerMs ? holders : sources;
}

/** The number of requests that keep a source busy. */
export function placesOf({ bytesPerMs, roundTripMs }: ShareSource): number {
  if (bytesPerMs === undefined) return placesMin;
  const blocks = Math.ceil((bytesPerMs * (roundTripMs + aheadMs)) / blockBytes);
  return Math.min(Math.max(blocks, placesMin), blocksInFlightPerSourceMax);
}

/**
 * False if the other sources will have sent everything before this one answers. A block that a member offers is left to such members unless
 * they are clearly slower: what leaves the origin is for those that cannot have it elsewhere.
 */
function isWorthwhile<Source extends ShareSource>(source: Source, sharing: Sharing<Source>): boolean {
  const others = worthAsking(sharing.sources).filter((other) => other !== source && !other.isStalled);
  const { missingBytes } = sharing;
  const partial = rateOf(
    others.filter(({ hasAll }) => !hasAll),
    assumedBytesPerMs,
  );
  const isLeft = source.hasAll && source.isNextOffered;
  if (isLeft && clearlyAfter(expectedMs(source)) > missingBytes / partial) return false;
  return expectedMs(source) <= missingBytes / rateOf(others.filter(({ hasAll }) => hasAll)) + slackMs;
}

/**
 * True for a slow block that another member fetches first, while this one still waits for its own part. True also while one of the others
 * had another block lately: the block will come from one of them. If it does not, the next member after the one that fetches it first asks
 * for it, and the one after that only later: all of them at once would occupy the source for the time of as many blocks.
 */
function isLeftToOthers(source: ShareSource, next: number, sharing: Sharing<ShareSource>): boolean {
  const { isShared, quietMs, pending, distance } = sharing;
  if (!isShared || !source.hasAll || source.isGuess || distance(next) === 0) return false;
  const { bytesPerMs, roundTripMs } = source;
  const blockMs = bytesPerMs === undefined ? unknownBlockMs : blockBytes / bytesPerMs;
  if (blockMs < Math.max(slowBlockMs, slowBlockRoundTrips * roundTripMs)) return false;
  const leftMs = Math.min(quietBlocks * blockMs * distance(next), leftMsMax);
  return quietMs < leftMs || pending.some(({ index }) => distance(index) === 0);
}

/** The rate of these sources together; `assumed` is that of one that was never measured. */
function rateOf(sources: readonly ShareSource[], assumed = 0): number {
  return sources.reduce((sum, { bytesPerMs = assumed }) => sum + bytesPerMs, 0);
}

/**
 * A request for the block that is expected last. It goes to a source that has nothing else to send and is expected to send it clearly
 * earlier.
 */
function secondRequest<Source extends ShareSource>(
  able: readonly Source[],
  sharing: Sharing<Source>,
): { readonly source: Source; readonly index: number } | undefined {
  const { pending, has } = sharing;
  const copies = new Map<number, number>();
  for (const { index } of pending) copies.set(index, (copies.get(index) ?? 0) + 1);
  const late = pending
    .filter(({ index }) => copies.get(index) === 1)
    .map((block) => ({ ...block, arrivesMs: arrivalMs(block.source, block.aheadBytes) }))
    .sort((a, b) => b.arrivesMs - a.arrivesMs);
  for (const source of able) {
    const bound = clearlyAfter(expectedMs(source));
    const block = late.find((one) => one.arrivesMs > bound && one.source !== source && has(source, one.index));
    if (block !== undefined) return { source, index: block.index };
  }
  return undefined;
}

function clearlyAfter(ms: number): number {
  return ms * clearlyLater + clearlyLaterMs;
}

/** The time until a further block comes from the source. */
function expectedMs(source: ShareSource): number {
  return source.roundTripMs + arrivalMs(source, source.requestedBytes + blockBytes);
}

function arrivalMs({ bytesPerMs, isStalled }: ShareSource, bytes: number): number {
  return isStalled ? Number.POSITIVE_INFINITY : bytes / (bytesPerMs ?? assumedBytesPerMs);
}
