import { blockBytes, inlineBytesMax } from '@lockstep/shared';
import type { BlockBuffers } from '../os/block-buffers.ts';
import { frameFault } from './frame-fault.ts';
import { blockHeaderBytes } from './messages/codec.ts';

/** A block message of which pieces arrive. Its length is known only with the last one. */
export class ArrivingBlock {
  readonly #buffers: BlockBuffers;
  readonly #header: Buffer;
  readonly #memory: Uint8Array;
  #length = 0;

  /** `start`: begins with the header of the message. */
  constructor(buffers: BlockBuffers, start: Buffer) {
    this.#buffers = buffers;
    // A copy: the chunk of which it is a view would be kept.
    this.#header = Buffer.from(start.subarray(0, blockHeaderBytes));
    this.#memory = buffers.take(blockBytes);
  }

  /** The bytes of it that have come. */
  get bytes(): number {
    return this.#length;
  }

  /** The place of the next bytes. Undefined if the block would be too long with them. */
  place(length: number): Uint8Array | undefined {
    const end = this.#length + length;
    return end > this.#memory.length ? undefined : this.#memory.subarray(this.#length, end);
  }

  /** Adds the next bytes, which may be in their place already. Throws a LockstepError if the block is too long with them. */
  add(bytes: Buffer): void {
    const place = this.place(bytes.length);
    if (place === undefined) throw frameFault('block', `has more than ${blockBytes} bytes`);
    if (bytes.buffer !== place.buffer) place.set(bytes);
    this.#length += bytes.length;
  }

  /** The frames of the whole message. */
  frames(): [Buffer, Buffer] {
    const bytes = this.#memory.subarray(0, this.#length);
    if (bytes.length > inlineBytesMax) return [this.#header, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)];
    // The memory of a whole block would be kept for a small one.
    const copy = Buffer.from(bytes);
    this.#buffers.giveBack(this.#memory);
    return [this.#header, copy];
  }
}
