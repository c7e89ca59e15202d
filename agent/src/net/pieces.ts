import { blockBytes, frameBytesMax, inlineBytesMax, LockstepError } from '@lockstep/shared';
import type { BlockBuffers } from '../os/block-buffers.ts';
import { ArrivingBlock } from './arriving-block.ts';
import { frameFault } from './frame-fault.ts';
import { beginsBlock, blockHeaderBytes, formatVersion, typeNumberOf } from './messages/codec.ts';

/** The numbers of pieces of bulk messages, and of reports of arrived bytes, in the row of message types. */
const pieceType = 17;
const arrivedType = 18;

/** Says if a message is one of the session itself. */
export function sessionKindOf(frames: readonly Buffer[]): 'piece' | 'arrived' | undefined {
  const type = typeNumberOf(frames);
  return type === pieceType ? 'piece' : type === arrivedType ? 'arrived' : undefined;
}

/** The header of a piece: format, type, and a byte with the stream and whether it is the last of its message. */
const headerBytes = 3;
const lastBit = 0x80;
/** The header of an `arrived`, the total, 6 bytes, and the delay, 2 bytes. Most significant bytes first. */
const arrivedBytes = 2 + 6 + 2;
const delayMsMax = 0xffff;

/** The streams of bulk messages. Messages of one stream keep their order; the pieces of different streams may alternate. */
export const streams = ['operations', 'small-blocks', 'blocks'] as const;
export type Stream = (typeof streams)[number];

const operationsStream = streams.indexOf('operations');

/** The frames of one WebSocket message. */
export type Frames = readonly [Uint8Array] | readonly [Uint8Array, Uint8Array];

/** The length of frames, in bytes. */
export function lengthOf(frames: readonly Uint8Array[]): number {
  return frames.reduce((sum, { length }) => sum + length, 0);
}

/** A message that is sent in pieces, over time. */
export class Outbound {
  readonly #frames: Frames;
  readonly #length: number;
  #sentBytes = 0;
  /** Of a block: the id of the want that it answers. */
  readonly id: number | undefined;
  readonly sent: (() => void) | undefined;

  /** `sent`: called when all of it has been written. */
  constructor(frames: Frames, { id, sent }: { readonly id?: number; readonly sent?: (() => void) | undefined } = {}) {
    this.id = id;
    this.sent = sent;
    this.#frames = frames;
    this.#length = lengthOf(frames);
  }

  /** The bytes of it that have not been taken. */
  get leftBytes(): number {
    return this.#length - this.#sentBytes;
  }

  /** True if some of it has been taken. */
  get hasBegun(): boolean {
    return this.#sentBytes > 0;
  }

  /** True if nothing of it has been taken, and all of it has at most this many bytes. */
  fits(bytesMax: number): boolean {
    return this.#sentBytes === 0 && this.#length <= bytesMax;
  }

  /** The next frames to send: the whole message if it has at most `bytesMax` bytes, else a piece of at most `bytesMax`. */
  take(bytesMax: number, stream: Stream): Frames {
    if (this.fits(bytesMax)) {
      this.#sentBytes = this.#length;
      return this.#frames;
    }
    const from = this.#sentBytes;
    this.#sentBytes = Math.min(this.#length, from + bytesMax - headerBytes);
    const header = Uint8Array.of(
      formatVersion,
      pieceType,
      streams.indexOf(stream) | (this.leftBytes === 0 ? lastBit : 0),
    );
    const [first, second] = this.#frames;
    const start = first.subarray(from, this.#sentBytes);
    const rest = second?.subarray(Math.max(0, from - first.length), Math.max(0, this.#sentBytes - first.length));
    if (start.length === 0 && rest !== undefined) return [header, rest];
    const joined = Buffer.concat([header, start]);
    return rest === undefined || rest.length === 0 ? [joined] : [joined, rest];
  }
}

/** Joins the pieces of messages. The bytes of a block are put into their place at once. */
export class Assembly {
  readonly #buffers: BlockBuffers;
  readonly #pieces = new Map<number, Buffer[]>();
  readonly #blocks = new Map<number, ArrivingBlock>();
  /** The block whose first piece is being read, with the memory that was given for it. */
  #begun: ArrivingBlock | undefined;

  constructor(buffers: BlockBuffers) {
    this.#buffers = buffers;
  }

  /**
   * The place for the next frame of a message, of which `earlier` has come: see `readFrames`. Undefined if the frame does not hold the
   * bytes of a block, or more than a block may have.
   */
  place(earlier: readonly Buffer[], length: number): Uint8Array | undefined {
    const [head] = earlier;
    if (head === undefined || earlier.length > 1) return undefined;
    if (beginsBlock(head)) {
      const isWhole = head.length === blockHeaderBytes && length > inlineBytesMax && length <= blockBytes;
      return isWhole ? this.#buffers.take(length) : undefined;
    }
    if (sessionKindOf(earlier) !== 'piece' || head.length < headerBytes) return undefined;
    const start = head.subarray(headerBytes);
    if (start.length === 0) return this.#blocks.get(streamOf(head))?.place(length);
    if (start.length !== blockHeaderBytes || !beginsBlock(start)) return undefined;
    this.#begun = new ArrivingBlock(this.#buffers, start);
    return this.#begun.place(length);
  }

  /**
   * Adds a piece; returns the frames of its message if it is complete. Throws a LockstepError if the piece is not valid, or the message
   * larger than any may be.
   */
  add(frames: readonly Buffer[]): readonly Buffer[] | undefined {
    // The header is nearly always in the first frame: then nothing is copied.
    const [head, ...rest] = (frames[0]?.length ?? 0) < headerBytes ? [Buffer.concat(frames)] : frames;
    if (head === undefined || head.length < headerBytes) throw frameFault('piece', 'is cut short');
    const stream = streamOf(head);
    if (stream >= streams.length) throw frameFault('piece', `belongs to the unknown stream ${stream}`);
    const isLast = ((head[2] ?? 0) & lastBit) !== 0;
    const added = [head.subarray(headerBytes), ...rest];
    const block = this.#blocks.get(stream) ?? this.#beginBlock(stream, added);
    if (block === undefined) return this.#join(stream, added, isLast);
    for (const bytes of added) block.add(bytes);
    if (!isLast) return undefined;
    this.#blocks.delete(stream);
    return block.frames();
  }

  /** Bytes that have come of blocks that are not complete; of a compressed one as it is sent. */
  blockBytes(): number {
    let bytes = 0;
    for (const block of this.#blocks.values()) bytes += block.bytes;
    for (const [stream, pieces] of this.#pieces) if (stream !== operationsStream) bytes += lengthOf(pieces);
    return bytes;
  }

  /** The block that begins with this piece; its header is taken off. Undefined if the message is another one. */
  #beginBlock(stream: number, added: Buffer[]): ArrivingBlock | undefined {
    const [start] = added;
    if (this.#pieces.has(stream) || start === undefined || !beginsBlock(start)) return undefined;
    const block = this.#begun ?? new ArrivingBlock(this.#buffers, start);
    this.#begun = undefined;
    this.#blocks.set(stream, block);
    added[0] = start.subarray(blockHeaderBytes);
    return block;
  }

  #join(stream: number, added: readonly Buffer[], isLast: boolean): readonly Buffer[] | undefined {
    const pieces = this.#pieces.get(stream) ?? [];
    pieces.push(...added);
    const length = lengthOf(pieces);
    if (length > frameBytesMax) {
      throw new LockstepError(
        'frame-too-large',
        `The pieces of a message have ${length} bytes, more than ${frameBytesMax}.`,
      );
    }
    if (!isLast) {
      this.#pieces.set(stream, pieces);
      return undefined;
    }
    this.#pieces.delete(stream);
    return [Buffer.concat(pieces, length)];
  }
}

/** The stream that the header of a piece names. */
function streamOf(head: Buffer): number {
  return (head[2] ?? 0) & ~lastBit;
}

/** The content of a report of arrived bytes. */
export interface Arrived {
  /** The bytes of bulk messages since the session began. */
  readonly totalBytes: number;
  /** The longest time that the last of them may have waited because the receiver was busy. */
  readonly delayMs: number;
}

/** A report of arrived bytes, as a frame. */
export function encodeArrived({ totalBytes, delayMs }: Arrived): Buffer {
  const frame = Buffer.allocUnsafe(arrivedBytes);
  frame[0] = formatVersion;
  frame[1] = arrivedType;
  frame.writeUIntBE(totalBytes, 2, 6);
  frame.writeUInt16BE(Math.min(Math.floor(delayMs), delayMsMax), 8);
  return frame;
}

/** A report of arrived bytes. Throws a LockstepError if it is not valid. */
export function decodeArrived(frames: readonly Buffer[]): Arrived {
  const whole = Buffer.concat(frames);
  if (whole.length !== arrivedBytes) throw frameFault('arrived', `has ${whole.length} bytes, not ${arrivedBytes}`);
  return { totalBytes: whole.readUIntBE(2, 6), delayMs: whole.readUInt16BE(8) };
}
