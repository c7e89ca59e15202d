import type { TLSSocket } from 'node:tls';
import { sendQueueBytesMax } from '@lockstep/shared';
import type { WebSocket } from 'ws';
import { blockBytesAheadMax } from './limits.ts';

/** Messages up to this size that are sent in one turn of the event loop leave in one write. */
const gatheredBytesMax = 65_536;

const binaryFrame = { binary: true, compress: false } as const;

type Frames = readonly [Uint8Array] | readonly [Uint8Array, Uint8Array];

/**
 * What a link still has to send. Blocks are given to the socket only as fast as it takes them, so that other messages, a heartbeat
 * above all, never wait behind more than two of them.
 */
export class SendQueue {
  readonly #socket: WebSocket;
  readonly #tls: TLSSocket;
  #blocks: Frames[] = [];
  #blocksBytes = 0;
  #waiting: (() => void)[] = [];
  #isGathering = false;

  constructor(socket: WebSocket, tls: TLSSocket) {
    this.#socket = socket;
    this.#tls = tls;
  }

  /** Queues a message behind all others but blocks. */
  send(frames: Frames): void {
    this.#gather(lengthOf(frames));
    this.#hand(frames);
  }

  /** Queues a block behind all other blocks. */
  sendBlock(frames: Frames): void {
    this.#blocks.push(frames);
    this.#blocksBytes += lengthOf(frames);
    this.#handBlocks();
  }

  queuedBytes(): number {
    return this.#socket.bufferedAmount + this.#blocksBytes;
  }

  whenDrained(run: () => void): void {
    if (this.#isDrained()) run();
    else this.#waiting.push(run);
  }

  /** Forgets who waits, and the blocks that the socket has not got. */
  end(): void {
    this.#waiting = [];
    this.#blocks = [];
    this.#blocksBytes = 0;
  }

  #hand([first, second]: Frames): void {
    const onSent = (): void => this.#onSent();
    if (second === undefined) {
      this.#socket.send(first, binaryFrame, onSent);
      return;
    }
    this.#socket.send(first, { ...binaryFrame, fin: false });
    this.#socket.send(second, binaryFrame, onSent);
  }

  #handBlocks(): void {
    while (this.#socket.bufferedAmount < blockBytesAheadMax) {
      const frames = this.#blocks.shift();
      if (frames === undefined) return;
      const length = lengthOf(frames);
      this.#blocksBytes -= length;
      this.#gather(length);
      this.#hand(frames);
    }
  }

  #onSent(): void {
    this.#handBlocks();
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
