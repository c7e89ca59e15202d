import type { TLSSocket } from 'node:tls';
import { type BulkLane, type Lane, sendQueueBytesMax } from '@lockstep/shared';
import type { WebSocket } from 'ws';
import { SendWindow } from '../core/traffic/send-window.ts';
import { frameFault } from './frame-fault.ts';
import { bulkBytesAheadMax, smallBlockBytesMax } from './limits.ts';
import { type Arrived, encodeArrived, type Frames, lengthOf, Outbound, type Stream, streams } from './pieces.ts';

/** Messages up to this size, sent in one turn of the event loop, leave in one write. */
const gatheredBytesMax = 65_536;

const binaryFrame = { binary: true, compress: false } as const;

/**
 * The messages that a link still has to send. Signals are given to the socket at once. Operations and blocks are given to it only as fast
 * as they arrive at the other side, in pieces that suit the link. So no signal waits behind them in a buffer.
 */
export class SendQueue {
  readonly #socket: WebSocket;
  readonly #tls: TLSSocket;
  readonly #window = new SendWindow();
  readonly #bulk: Readonly<Record<Stream, Outbound[]>> = { operations: [], 'small-blocks': [], blocks: [] };
  /** The bytes of the bulk messages of each lane that the socket has not got. */
  readonly #waitingBytes = { operations: 0, blocks: 0 };
  #hasSmallTurn = true;
  #waiting: { readonly lane: BulkLane; readonly run: () => void }[] = [];
  /** Callbacks for the time when nothing waits, signals included. */
  #unsent: (() => void)[] = [];
  #isGathering = false;

  constructor(socket: WebSocket, tls: TLSSocket) {
    this.#socket = socket;
    this.#tls = tls;
  }

  /**
   * Queues a message behind all of its own lane. A small block overtakes large ones. `id`: that of a block. `sent`: called when all of a bulk
   * message has been written, or was withdrawn; never if the link ends before.
   */
  send(
    frames: Frames,
    lane: Lane,
    about: { readonly id?: number; readonly sent?: (() => void) | undefined } = {},
  ): void {
    if (lane === 'signals') {
      this.#hand(frames);
      return;
    }
    const bytes = lengthOf(frames);
    const isSmallBlock = lane === 'blocks' && bytes <= smallBlockBytesMax;
    this.#bulk[isSmallBlock ? 'small-blocks' : lane].push(new Outbound(frames, about));
    this.#waitingBytes[lane] += bytes;
    this.#handBulk();
    // The rest of the turn, in which the other loops react to the same operations, would delay them.
    if (lane === 'operations') this.#release();
  }

  /** The rate of the link, in bytes per second; undefined while it is not known. */
  get bytesPerSecond(): number | undefined {
    return this.#window.bytesPerSecond;
  }

  /** Drops the blocks with these ids of which the socket has got nothing. Returns their ids. */
  withdraw(ids: ReadonlySet<number>): readonly number[] {
    const dropped: number[] = [];
    for (const stream of ['small-blocks', 'blocks'] as const) {
      const kept: Outbound[] = [];
      for (const message of this.#bulk[stream]) {
        if (message.id === undefined || !ids.has(message.id) || message.hasBegun) {
          kept.push(message);
          continue;
        }
        this.#waitingBytes.blocks -= message.leftBytes;
        message.sent?.();
        dropped.push(message.id);
      }
      this.#bulk[stream].splice(0, this.#bulk[stream].length, ...kept);
    }
    this.#noteDrained();
    return dropped;
  }

  /** Counts bytes of a block that is being compressed as waiting. Returns what ends that; it must not be called after `end`. */
  reserve(bytes: number): () => void {
    this.#waitingBytes.blocks += bytes;
    return () => {
      this.#waitingBytes.blocks -= bytes;
    };
  }

  /** Reports to the other side what has arrived here. It leaves before the message is processed, which may take longer than its way. */
  report(arrived: Arrived): void {
    this.#release();
    this.#socket.send(encodeArrived(arrived), binaryFrame, () => this.#noteSent());
  }

  /** Handles a report of the other side, which may have waited here for `readDelayMs`. Throws a LockstepError if it is not true. */
  arrived({ totalBytes, delayMs }: Arrived, readDelayMs: number): void {
    if (!this.#window.arrived(totalBytes, performance.now(), Math.max(delayMs, readDelayMs))) {
      throw frameFault('arrived', 'counts bytes that were not sent');
    }
    this.#handBulk();
    this.#noteDrained();
  }

  queuedBytes(lane?: BulkLane): number {
    const { operations, blocks } = this.#waitingBytes;
    return lane === undefined ? this.#socket.bufferedAmount + operations + blocks : this.#waitingBytes[lane];
  }

  whenDrained(lane: BulkLane, run: () => void): void {
    if (this.#isDrained(lane)) run();
    else this.#waiting.push({ lane, run });
  }

  whenSent(run: () => void): void {
    this.#unsent.push(run);
    this.#noteSent();
  }

  /** Gives the socket all operations, whatever their size, because it is about to be closed: what was sent before arrives. */
  flush(): void {
    for (const message of this.#bulk.operations.splice(0)) {
      while (message.leftBytes > 0) this.#handPiece(message, 'operations', Number.POSITIVE_INFINITY);
    }
  }

  /** Drops the waiting callbacks, and the messages that the socket has not got. */
  end(): void {
    this.#waiting = [];
    this.#unsent = [];
    for (const stream of streams) this.#bulk[stream].length = 0;
    this.#waitingBytes.operations = 0;
    this.#waitingBytes.blocks = 0;
  }

  #hand(frames: Frames, sent?: () => void): void {
    this.#gather(lengthOf(frames));
    const [first, second] = frames;
    const written = (error?: Error | null): void => {
      if (error === undefined || error === null) sent?.();
      this.#onSent();
    };
    if (second === undefined) {
      this.#socket.send(first, binaryFrame, written);
      return;
    }
    this.#socket.send(first, { ...binaryFrame, fin: false });
    this.#socket.send(second, binaryFrame, written);
  }

  #onSent(): void {
    this.#handBulk();
    this.#noteDrained();
  }

  #handBulk(): void {
    while (this.#socket.bufferedAmount < bulkBytesAheadMax) {
      const stream = this.#nextStream();
      const [message] = stream === undefined ? [] : this.#bulk[stream];
      if (stream === undefined || message === undefined) return;
      const bytesMax = this.#bytesMaxOf(message);
      if (!this.#window.admits(Math.min(message.leftBytes, bytesMax))) return;
      this.#handPiece(message, stream, bytesMax);
      if (message.leftBytes === 0) this.#bulk[stream].shift();
      this.#hasSmallTurn = stream !== 'small-blocks';
    }
  }

  #bytesMaxOf(message: Outbound): number {
    return message.fits(this.#window.wholeBytes) ? Number.POSITIVE_INFINITY : this.#window.pieceBytes;
  }

  /** Operations go first. Small and large blocks take turns: neither keeps the others waiting. */
  #nextStream(): Stream | undefined {
    const { operations, 'small-blocks': small, blocks } = this.#bulk;
    if (operations.length > 0) return 'operations';
    if (small.length > 0 && (this.#hasSmallTurn || blocks.length === 0)) return 'small-blocks';
    return blocks.length > 0 ? 'blocks' : undefined;
  }

  #handPiece(message: Outbound, stream: Stream, bytesMax: number): void {
    const lane = stream === 'operations' ? stream : 'blocks';
    const leftBytes = message.leftBytes;
    const frames = message.take(bytesMax, stream);
    this.#waitingBytes[lane] -= leftBytes - message.leftBytes;
    this.#window.sent(lengthOf(frames), performance.now());
    this.#hand(frames, message.leftBytes === 0 ? message.sent : undefined);
  }

  #noteDrained(): void {
    for (const lane of ['operations', 'blocks'] as const) {
      if (this.#waiting.length === 0 || !this.#isDrained(lane)) continue;
      const waiting = this.#waiting;
      this.#waiting = waiting.filter((each) => each.lane !== lane);
      for (const each of waiting) if (each.lane === lane) this.whenDrained(lane, each.run);
    }
    this.#noteSent();
  }

  #noteSent(): void {
    if (this.#unsent.length === 0 || this.queuedBytes() > 0) return;
    for (const run of this.#unsent.splice(0)) run();
  }

  #isDrained(lane: BulkLane): boolean {
    return this.queuedBytes(lane) < sendQueueBytesMax / 2;
  }

  /** Keeps the messages of one turn together: one TLS record and one system call instead of many. */
  #gather(messageBytes: number): void {
    if (messageBytes > gatheredBytesMax) this.#release();
    if (messageBytes > gatheredBytesMax || this.#isGathering) return;
    this.#isGathering = true;
    this.#tls.cork();
    process.nextTick(() => this.#release());
  }

  #release(): void {
    if (!this.#isGathering) return;
    this.#isGathering = false;
    this.#tls.uncork();
  }
}
