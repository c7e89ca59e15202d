import { frameBytesMax, LockstepError } from '@lockstep/shared';
import { formatVersion, messageTypeOf } from './codec.ts';
import { frameFault } from './frame-fault.ts';

/** The numbers of pieces of bulk messages, and of reports of arrived bytes, in the row of message types. */
const pieceType = 17;
const arrivedType = 18;

/** Says if a message is one of the session itself. */
export function sessionKindOf([first, second]: readonly Buffer[]): 'piece' | 'arrived' | undefined {
  const type = (first?.length ?? 0) > 1 ? first?.[1] : second?.[1 - (first?.length ?? 0)];
  return type === pieceType ? 'piece' : type === arrivedType ? 'arrived' : undefined;
}

/** The header of a piece: format, type, and a byte with the stream and whether it is the last of its message. */
const headerBytes = 3;
const lastBit = 0x80;
/** The header of an `arrived`, the total, 6 bytes, and the delay, 2 bytes. Most significant bytes first. */
const arrivedBytes = 2 + 6 + 2;
const delayMsMax = 0xffff;
/** A block's own header; its bytes must begin a buffer of their own. */
const blockHeaderBytes = 8;

/** The streams of bulk messages. Messages of one stream keep their order; the pieces of different streams may alternate. */
export const streams = ['operations', 'small-blocks', 'blocks'] as const;
export type Stream = (typeof streams)[number];

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

  constructor(frames: Frames) {
    this.#frames = frames;
    this.#length = lengthOf(frames);
  }

  /** The bytes of it that have not been taken. */
  get leftBytes(): number {
    return this.#length - this.#sentBytes;
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

/** Joins the pieces of messages. */
export class Assembly {
  readonly #pieces = new Map<number, Buffer[]>();

  /**
   * Adds a piece; returns the frames of its message if it is complete. Throws a LockstepError if the piece is not valid, or the message
   * larger than any may be.
   */
  add(frames: readonly Buffer[]): readonly Buffer[] | undefined {
    // The header is nearly always in the first frame: then nothing is copied.
    const [head, ...rest] = (frames[0]?.length ?? 0) < headerBytes ? [Buffer.concat(frames)] : frames;
    const flags = head?.[2];
    if (head === undefined || flags === undefined) throw frameFault('piece', 'is cut short');
    const stream = flags & ~lastBit;
    if (stream >= streams.length) throw frameFault('piece', `belongs to the unknown stream ${stream}`);
    const pieces = this.#pieces.get(stream) ?? [];
    pieces.push(head.subarray(headerBytes), ...rest);
    const length = lengthOf(pieces);
    if (length > frameBytesMax) {
      throw new LockstepError(
        'frame-too-large',
        `The pieces of a message have ${length} bytes, more than ${frameBytesMax}.`,
      );
    }
    if ((flags & lastBit) === 0) {
      this.#pieces.set(stream, pieces);
      return undefined;
    }
    this.#pieces.delete(stream);
    return join(pieces, length);
  }
}

/** The message in these pieces: one frame, or for a block two, the second with a buffer of its own. */
function join(pieces: readonly Buffer[], length: number): readonly Buffer[] {
  const [first] = pieces;
  if (first === undefined || first.length < blockHeaderBytes || messageTypeOf(first) !== 'block') {
    return [Buffer.concat(pieces, length)];
  }
  const bytes = Buffer.from(new ArrayBuffer(length - blockHeaderBytes));
  let at = 0;
  for (const [index, piece] of pieces.entries()) at += piece.copy(bytes, at, index === 0 ? blockHeaderBytes : 0);
  return [first.subarray(0, blockHeaderBytes), bytes];
}

/** What a report of arrived bytes says. */
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
