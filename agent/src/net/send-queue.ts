import type { TLSSocket } from 'node:tls';
import { type Lane, sendQueueBytesMax } from '@lockstep/shared';
import type { WebSocket } from 'ws';
import { bulkBytesAheadMax } from './limits.ts';

/** Messages up to this size, sent in one turn of the event loop, leave in one write. */
const gatheredBytesMax = 65_536;

const binaryFrame = { binary: true, compress: false } as const;

type Frames = readonly [Uint8Array] | readonly [Uint8Array, Uint8Array];

/**
 * The messages that a link still has to send. The socket gets operations and blocks only as fast as it takes them. So signals, above all
 * heartbeats, never wait behind more than two messages of bulk data.
 */
export class SendQueue {
  readonly #socket: WebSocket;
  readonly #tls: TLSSocket;
  #operations: Frames[] = [];
  #blocks: Frames[] = [];
  /** The bytes of both queues. */
  #waitingBytes = 0;
  #waiting: (() => void)[] = [];
  #isGathering = false;

  constructor(socket: WebSocket, tls: TLSSocket) {
    this.#socket = socket;
    this.#tls = tls;
  }

  /** Queues a message behind all of its own lane. */
  send(frames: Frames, lane: Lane): void {
    if (lane === 'signals') {
      this.#hand(frames);
      return;
    }
    (lane === 'operations' ? this.#operations : this.#blocks).push(frames);
    this.#waitingBytes += lengthOf(frames);
    this.#handBulk();
  }

  queuedBytes(): number {
    return this.#socket.bufferedAmount + this.#waitingBytes;
  }

  whenDrained(run: () => void): void {
    if (this.#isDrained()) run();
    else this.#waiting.push(run);
  }

  /** Gives the socket all operations, whatever their size, because it is about to be closed: what was sent before arrives. */
  flush(): void {
    for (const frames of this.#operations.splice(0)) {
      this.#waitingBytes -= lengthOf(frames);
      this.#hand(frames);
    }
  }

  /** Drops the waiting callbacks, and the messages that the socket has not got. */
  end(): void {
    this.#waiting = [];
    this.#operations = [];
    this.#blocks = [];
    this.#waitingBytes = 0;
  }

  #hand(frames: Frames): void {
    this.#gather(lengthOf(frames));
    const [first, second] = frames;
    const onSent = (): void => this.#onSent();
    if (second === undefined) {
      this.#socket.send(first, binaryFrame, onSent);
      return;
    }
    this.#socket.send(first, { ...binaryFrame, fin: false });
    this.#socket.send(second, binaryFrame, onSent);
  }

  #handBulk(): void {
    while (this.#socket.bufferedAmount < bulkBytesAheadMax) {
      const frames = this.#operations.shift() ?? this.#blocks.shift();
      if (frames === undefined) return;
      this.#waitingBytes -= lengthOf(frames);
      this.#hand(frames);
    }
  }

  #onSent(): void {
    this.#handBulk();
    if (this.#waiting.length === 0 || !this.#isDrained()) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const run of waiting) run();
  }

  #isDrained(): boolean {
    return this.queuedBytes() < sendQueueBytesMax / 2;
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

function lengthOf([first, second]: Frames): number {
  return first.length + (second?.length ?? 0);
}
