import { blockBytes, inlineBytesMax } from '@lockstep/shared';

/**
 * Buffers in use or kept for use at once. A transfer to or from one member needs about ten: see `blocksInFlightPerSourceMax` and
 * `sendQueueBytesMax`. Blocks beyond them get ordinary memory.
 */
const buffersMax = 32;

/**
 * The memory for blocks on their way between disk and connection, which is used repeatedly. Memory of its own for each block would cost more
 * than to hash and to encrypt it: the system clears its pages, and the garbage collector examines the whole heap for each 64 MiB of it.
 * It is shared with the worker threads, so that no block is copied for them. A buffer that is not given back is collected as any other.
 */
export class BlockBuffers {
  readonly #free: SharedArrayBuffer[] = [];
  readonly #lent = new WeakSet<ArrayBufferLike>();
  readonly #collected = new FinalizationRegistry<undefined>(() => {
    this.#count -= 1;
  });
  #count = 0;

  /** Memory for `length` bytes, with any bytes in it. Of `blockBytes` at most; a small block is not worth a buffer of that size. */
  take(length: number): Uint8Array {
    const isWorthIt = length > inlineBytesMax && length <= blockBytes;
    const buffer = isWorthIt ? (this.#free.pop() ?? this.#make()) : undefined;
    if (buffer === undefined) return new Uint8Array(length);
    this.#lent.add(buffer);
    return new Uint8Array(buffer, 0, length);
  }

  /** Takes back the memory of `bytes`, if it came from here. No thread may use them any more. */
  giveBack({ buffer }: Uint8Array): void {
    if (this.#lent.delete(buffer)) this.#free.push(buffer as SharedArrayBuffer);
  }

  #make(): SharedArrayBuffer | undefined {
    if (this.#count >= buffersMax) return undefined;
    this.#count += 1;
    const buffer = new SharedArrayBuffer(blockBytes);
    this.#collected.register(buffer, undefined);
    return buffer;
  }
}
