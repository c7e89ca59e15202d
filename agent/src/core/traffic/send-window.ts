/** The receiver reports arrived bytes at least each time that this many have come: the smallest piece. */
export const arrivalBytes = 2_048;

/** The window before anything was measured. A link of 1 MB/s is full for an eighth of a second, once in a session. */
const firstBytes = 131_072;
/** Three smallest pieces: one on its way, one being read, one whose arrival is being reported. */
const leastBytes = 3 * arrivalBytes;
/** More than any link needs: 10 Gbit/s at a round trip of 25 ms. */
const mostBytes = 32 * 1_048_576;

/** The longest queue, in time. */
const queueMsMax = 50;
/** The queue that every link may have: the threads of both sides need some milliseconds now and then. */
const queueMsMin = 4;
/** A round lasts at least this long, so that its least delay is not that of a single late reaction. */
const roundMsMin = 30;
/** A round with this many reports shows a queue even if the window was never full. */
const reportsMin = 8;
/**
 * The time after which the delay of the empty link is measured again while data is being sent. The link is idle meanwhile, for some four round
 * trips: so a tenth of the time is for that at most.
 */
const baseAgeMsMin = 10_000;
const baseAgeRoundTrips = 40;
/** Pieces sent one by one to measure it; the median counts. */
const probePieces = 3;
/**
 * If the window has shrunk below this share, and the rate has fallen below that one, what was taken for a queue was none: a sender that
 * shortens its own queue loses no throughput.
 */
const shrunkShare = 0.7;
const slowerShare = 0.85;
/** The resolution of the clock: no delay is zero. */
const delayMsMin = 0.01;

interface Piece {
  /** The number of bytes sent up to its end. */
  readonly endBytes: number;
  readonly sentMs: number;
  /** Nothing else was on its way when it was sent. */
  readonly isAlone: boolean;
}

interface Round {
  readonly startMs: number;
  /** The bytes that had arrived when it began. */
  readonly arrivedBytes: number;
  /** It ends when everything that was sent before it has arrived. */
  readonly endBytes: number;
  leastDelayMs: number;
  /** The least delay without the time in which the thread of one side was busy. */
  leastLinkMs: number;
  /** The longest such time of any report. */
  busyMs: number;
  reports: number;
  wasFull: boolean;
}

/**
 * The number of bytes that one side of a session may have on their way. They should fill the link but build no queue in it. A message in the
 * buffers of TLS, the kernel or a router cannot be overtaken.
 *
 * The delay of each piece is compared with that of the empty link. The least excess during one round trip is a standing queue (as in CoDel,
 * RFC 8289). The window begins with slow start. At the first queue it becomes the delivered rate times the sum of the empty link's delay and
 * three quarters of the permitted queue. That is somewhat more than the bandwidth-delay product, as in BBR. Later it grows to that product
 * while the queue is short, and shrinks to it when the queue is too long. To measure the delay of the empty link again, the link is drained
 * now and then (as in BBR and LEDBAT++). Bytes that waited because a thread of either side was busy were in no queue of the link: that time
 * does not count, so that the window lasts until the thread reads again. All times are of a monotonic clock, in milliseconds.
 */
export class SendWindow {
  #windowBytes = firstBytes;
  #sentBytes = 0;
  #arrivedBytes = 0;
  readonly #pieces: Piece[] = [];
  /** The delay of the empty link, and when it was last observed. */
  #baseMs = Number.POSITIVE_INFINITY;
  #baseAtMs = 0;
  /** The rate of the last round in which the window was full. */
  #bytesPerMs: number | undefined;
  /** How long a thread was busy at a time in the last round. */
  #busyMs = 0;
  /** The window was full in the last round. A busy thread reads the reports of a whole round, and of the next one, at once. */
  #wasFull = false;
  #round: Round | undefined;
  /** Slow start: the window grows by the bytes that arrive. */
  #isStarting = true;
  /** The window and the rate before it was shrunk, until that is known to have cost nothing. */
  #before: { readonly windowBytes: number; readonly rate: number } | undefined;
  /** While the delay of the empty link is measured: those so far. */
  #probe: number[] | undefined;

  /** The current size, in bytes. */
  get bytes(): number {
    return this.#windowBytes;
  }

  /** The rate of the link, in bytes per second; undefined until the window was full. */
  get bytesPerSecond(): number | undefined {
    return this.#bytesPerMs === undefined ? undefined : 1_000 * this.#bytesPerMs;
  }

  /** The bytes sent of which no arrival was reported. Up to `arrivalBytes` of them may have arrived. */
  get onTheWayBytes(): number {
    return this.#sentBytes - this.#arrivedBytes;
  }

  /**
   * The size of the pieces of a message, at least `arrivalBytes`. The delay of a piece includes the time that its own bytes take. So it is
   * a quarter of the permitted queue, and small pieces measure the empty link.
   */
  get pieceBytes(): number {
    if (this.#probe !== undefined || this.#baseMs === Number.POSITIVE_INFINITY) return arrivalBytes;
    const rate = this.#bytesPerMs;
    const bytes = rate === undefined ? firstBytes / 8 : (rate * (queueMs(this.#baseMs, rate) + this.#busyMs)) / 4;
    return Math.max(arrivalBytes, Math.floor(Math.min(bytes, this.#windowBytes / 4)));
  }

  /** A message up to this size is sent whole: to join pieces costs the receiver a copy. */
  get wholeBytes(): number {
    return 2 * this.pieceBytes;
  }

  /** True if a message or piece of at most `wholeBytes` may be sent now. False ends with the next `arrived`. */
  admits(bytes: number): boolean {
    const { onTheWayBytes } = this;
    if (onTheWayBytes < arrivalBytes) return true;
    if (this.#probe === undefined && onTheWayBytes + bytes <= this.#windowBytes) return true;
    if (this.#round !== undefined) this.#round.wasFull = true;
    return false;
  }

  /** Notes that bytes are given to the socket. */
  sent(bytes: number, nowMs: number): void {
    const isAlone = this.onTheWayBytes < arrivalBytes;
    this.#round ??= this.#newRound(nowMs);
    this.#sentBytes += bytes;
    this.#pieces.push({ endBytes: this.#sentBytes, sentMs: nowMs, isAlone });
  }

  /**
   * Notes a report that `totalBytes` have arrived in all. Returns false if that cannot be: so many were not sent. `busyMs`: how long the
   * last bytes, or the report, may have waited because the thread of one side was busy.
   */
  arrived(totalBytes: number, nowMs: number, busyMs: number): boolean {
    if (totalBytes > this.#sentBytes) return false;
    let piece: Piece | undefined;
    while (this.#pieces[0] !== undefined && this.#pieces[0].endBytes <= totalBytes) piece = this.#pieces.shift();
    if (piece === undefined) return true;
    const bytes = totalBytes - this.#arrivedBytes;
    this.#arrivedBytes = totalBytes;
    const delayMs = Math.max(nowMs - piece.sentMs, delayMsMin);
    this.#noteDelay(delayMs, piece.isAlone, nowMs);
    const round = this.#round;
    if (round === undefined) return true;
    round.leastDelayMs = Math.min(round.leastDelayMs, delayMs);
    round.leastLinkMs = Math.min(round.leastLinkMs, delayMs - busyMs);
    round.busyMs = Math.max(round.busyMs, busyMs);
    round.reports++;
    const isQueued = delayMs - busyMs > this.#baseMs + this.#limitMs(0);
    if (this.#isStarting && (round.wasFull || this.#wasFull) && !isQueued) this.#resize(this.#windowBytes + bytes);
    if (totalBytes > round.endBytes && nowMs - round.startMs >= roundMsMin) this.#endRound(round, nowMs);
    // After a pause the next round begins with the next piece, so that the pause does not lower the rate.
    if (this.onTheWayBytes < arrivalBytes && this.#probe === undefined) this.#round = undefined;
    return true;
  }

  #noteDelay(delayMs: number, isAlone: boolean, nowMs: number): void {
    if (this.#probe !== undefined && isAlone) {
      this.#probe.push(delayMs);
      if (this.#probe.length === probePieces) this.#endProbe(median(this.#probe), nowMs);
    } else if (this.#bytesPerMs === undefined && delayMs <= this.#baseMs) {
      this.#baseMs = delayMs;
      this.#baseAtMs = nowMs;
    }
  }

  #endProbe(baseMs: number, nowMs: number): void {
    // The window of a link that has become longer is much too small.
    if (baseMs > 2 * this.#baseMs) this.#isStarting = true;
    this.#baseMs = baseMs;
    this.#baseAtMs = nowMs;
    this.#probe = undefined;
    this.#round = this.#newRound(nowMs);
  }

  #endRound(round: Round, nowMs: number): void {
    this.#round = this.#newRound(nowMs);
    if (this.#probe !== undefined) return;
    // Rounds are compared with rounds: on a link whose delay varies, a single message may be much faster than all others.
    if (round.leastDelayMs <= this.#baseMs) {
      this.#baseMs = round.leastDelayMs;
      this.#baseAtMs = nowMs;
    }
    const rate = (this.#arrivedBytes - round.arrivedBytes) / (nowMs - round.startMs);
    const limitMs = this.#limitMs(rate);
    const queuedMs = round.leastLinkMs - this.#baseMs;
    this.#busyMs = round.busyMs;
    this.#wasFull = round.wasFull;
    const excessMs = queuedMs - limitMs * (3 / 4);
    if (round.wasFull) this.#bytesPerMs = rate;
    if (queuedMs > limitMs / 2) this.#isStarting = false;
    if (this.#wasShrunkInError(rate)) return;
    if (queuedMs > limitMs && (round.wasFull || round.reports >= reportsMin)) {
      this.#before ??= { windowBytes: this.#windowBytes, rate };
      this.#resize(this.#windowBytes - rate * excessMs);
    } else if (excessMs < 0 && round.wasFull && !this.#isStarting) this.#resize(this.#windowBytes - rate * excessMs);
    if (round.wasFull && nowMs - this.#baseAtMs > Math.max(baseAgeMsMin, baseAgeRoundTrips * this.#baseMs))
      this.#probe = [];
  }

  /** Takes back what was shrunk if it has cost throughput, and measures the empty link again: it may have become longer. */
  #wasShrunkInError(rate: number): boolean {
    const before = this.#before;
    if (before === undefined) return false;
    const isSlower = rate < slowerShare * before.rate;
    if (!isSlower || this.#windowBytes >= before.windowBytes) this.#before = undefined;
    else if (this.#windowBytes < shrunkShare * before.windowBytes) {
      this.#resize(before.windowBytes);
      this.#before = undefined;
      this.#probe = [];
      return true;
    }
    return false;
  }

  /** The longest queue at this rate. In slow start the rate is that at which the window would be right: it may be much higher. */
  #limitMs(rate: number): number {
    return queueMs(this.#baseMs, this.#isStarting ? Math.max(rate, this.#windowBytes / this.#baseMs) : rate);
  }

  #newRound(nowMs: number): Round {
    return {
      startMs: nowMs,
      arrivedBytes: this.#arrivedBytes,
      endBytes: this.#sentBytes,
      leastDelayMs: Number.POSITIVE_INFINITY,
      leastLinkMs: Number.POSITIVE_INFINITY,
      busyMs: 0,
      reports: 0,
      wasFull: false,
    };
  }

  #resize(bytes: number): void {
    this.#windowBytes = Math.round(Math.min(Math.max(bytes, leastBytes), mostBytes));
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/**
 * The longest standing queue on a link with this round trip when it is empty. A quarter of the round trip, so that signals are hardly slower
 * than on the empty link; on a fast link as many milliseconds as it carries MB/s, so that it stays busy while a process of either side
 * is late.
 */
export function queueMs(baseMs: number, bytesPerMs: number): number {
  return Math.min(Math.max(baseMs / 4, bytesPerMs / 1_000, queueMsMin), queueMsMax);
}
