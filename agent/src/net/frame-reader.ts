import type { TLSSocket } from 'node:tls';
import type { WebSocket } from 'ws';

/** Larger than a TLS record, of which each read returns one. */
const chunkBytes = 65_536;

/** The bytes of one read, of any session: they are copied from here before the next read. */
const chunk = Buffer.from(new ArrayBuffer(chunkBytes));
const nothing = Buffer.alloc(0);

/** Chunks are processed at once, so that ws needs no limit of those that wait. By default it would stop and start the socket at each. */
const waitingBytesMax = 16 * chunkBytes;

/** Says where the bytes of the next frame of a message go, of which the frames `earlier` have come. Undefined: into memory of its own. */
export type Place = (earlier: readonly Buffer[], length: number) => Uint8Array | undefined;

/** The members of the receiver of ws 8 that are used here. */
interface Receiver {
  readonly _writableState: { highWaterMark: number };
  /** The bytes that were received and not yet consumed. */
  _buffers: Buffer[];
  _bufferedBytes: number;
  /** The frames of the incomplete message. */
  readonly _fragments: readonly Buffer[];
  readonly _payloadLength: number;
  _mask: Buffer | undefined;
  _loop: boolean;
  /** Removes the next bytes from `_buffers`. */
  consume(length: number): Buffer;
  /** Continues when the header of a frame has been read. */
  getData(done: (error?: Error) => void): void;
}

/**
 * Reads the frames of a session without garbage: headers and small frames into one buffer that all sessions use, the rest of a large frame
 * into its place. Node would make a buffer for each 16 KiB, and ws another one for each frame. The collector would examine the whole heap
 * for every 20 MiB of them: half of the processor time of a receiver. Neither has an option for that, so private members of both are used.
 * Returns false if one of them is missing in another release: then the session is read as usual.
 */
export function readFrames(socket: WebSocket, tls: TLSSocket, place: Place): boolean {
  const { _receiver: receiver } = socket as { readonly _receiver?: unknown };
  return isReceiver(receiver) && new FrameReader(receiver, tls, place).takeOver();
}

class FrameReader {
  readonly #receiver: Receiver;
  readonly #tls: TLSSocket;
  readonly #place: Place;
  /** The frame that is being read, and how many of its bytes have come. */
  #frame: Buffer | undefined;
  #filled = 0;

  constructor(receiver: Receiver, tls: TLSSocket, place: Place) {
    this.#receiver = receiver;
    this.#tls = tls;
    this.#place = place;
  }

  takeOver(): boolean {
    const isReading = readInto(
      this.#tls,
      (length, buffer) => this.#read(length, buffer),
      () => this.#next(),
    );
    if (!isReading) return false;
    const receiver = this.#receiver;
    receiver._writableState.highWaterMark = waitingBytesMax;
    const getData = receiver.getData.bind(receiver);
    receiver.getData = (done) => {
      if (receiver._payloadLength === 0 || this.#isComplete(receiver)) getData(done);
      else receiver._loop = false;
    };
    return true;
  }

  /** The buffer for the next bytes. It is never empty: Node would try to fill it without end. */
  #next(): Buffer {
    const frame = this.#frame;
    return frame === undefined || this.#filled === frame.length ? chunk : frame.subarray(this.#filled);
  }

  #read(length: number, buffer: Uint8Array): void {
    const receiver = this.#receiver;
    if (buffer === chunk) this.#tls.emit('data', chunk.subarray(0, length));
    else {
      this.#filled += length;
      if (this.#filled === this.#frame?.length) this.#tls.emit('data', nothing);
    }
    // At most a part of the next frame's header is left in the buffer, which is used again.
    if (receiver._buffers.length > 0) {
      receiver._buffers = receiver._bufferedBytes > 0 ? [Buffer.concat(receiver._buffers)] : [];
    }
  }

  /** Moves what has come of a frame to its place. True if it is complete: then ws finds it as if it had come in one chunk. */
  #isComplete(receiver: Receiver): boolean {
    const frame = this.#frame ?? this.#begin(receiver);
    while (this.#filled < frame.length && receiver._bufferedBytes > 0) {
      const part = receiver.consume(Math.min(frame.length - this.#filled, receiver._buffers[0]?.length ?? 0));
      frame.set(part, this.#filled);
      this.#filled += part.length;
    }
    if (this.#filled < frame.length) return false;
    receiver._buffers.unshift(frame);
    receiver._bufferedBytes += frame.length;
    this.#frame = undefined;
    return true;
  }

  #begin(receiver: Receiver): Buffer {
    const length = receiver._payloadLength;
    const placed = this.#place(receiver._fragments, length);
    const frame = placed ? Buffer.from(placed.buffer, placed.byteOffset, length) : Buffer.allocUnsafe(length);
    this.#frame = frame;
    this.#filled = 0;
    // It is a view of the buffer that is used again.
    receiver._mask &&= Buffer.from(receiver._mask);
    return frame;
  }
}

/**
 * Lets `tls` read into the buffers that `next` returns. The option `onread` of Node does so too, but cannot be given for a connection that is
 * open. `read` is called with the number of bytes that came into one.
 */
function readInto(tls: TLSSocket, read: (length: number, buffer: Uint8Array) => void, next: () => Uint8Array): boolean {
  const members = tls as unknown as Record<symbol, unknown> & { readonly _handle?: { useUserBuffer?: unknown } | null };
  const [target, callback, generator] = ['kBuffer', 'kBufferCb', 'kBufferGen'].map((name) =>
    Object.getOwnPropertySymbols(tls).find(({ description }) => description === name),
  );
  const handle = members._handle;
  if (target === undefined || callback === undefined || generator === undefined) return false;
  if (typeof handle?.useUserBuffer !== 'function') return false;
  members[target] = chunk;
  members[callback] = read;
  members[generator] = next;
  handle.useUserBuffer(chunk);
  return true;
}

function isReceiver(value: unknown): value is Receiver {
  const receiver = (value ?? {}) as Partial<Receiver>;
  return (
    typeof receiver.consume === 'function' &&
    typeof receiver.getData === 'function' &&
    typeof receiver._payloadLength === 'number' &&
    typeof receiver._bufferedBytes === 'number' &&
    typeof receiver._loop === 'boolean' &&
    typeof receiver._writableState?.highWaterMark === 'number' &&
    Array.isArray(receiver._buffers) &&
    Array.isArray(receiver._fragments)
  );
}
