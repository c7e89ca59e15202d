import {
  type BlockMessage,
  blockBytes,
  frameBytesMax,
  LockstepError,
  type PeerMessage,
  type PeerMessageType,
} from '@lockstep/shared';
import { frameFault } from '../frame-fault.ts';
import { packBody, unpackBody } from './message-pack.ts';
import { bodySchemas, type MapMessageType } from './message-schema.ts';
import { decodeOperations } from './operation-decode.ts';
import { encodeOperations } from './operation-encode.ts';

/** The first byte of every message: the version of its layout. */
export const formatVersion = 1;

/** The numbers of the message types, sent in the second byte. A number is never reused. Three more are in `pieces.ts` and `packed-block.ts`. */
const typeNumbers: Readonly<Record<PeerMessageType, number>> = {
  hello: 1,
  subscribe: 2,
  operations: 3,
  received: 4,
  pull: 5,
  pulled: 6,
  want: 7,
  block: 8,
  missing: 9,
  ack: 10,
  heartbeat: 11,
  leave: 13,
  fork: 14,
  sealed: 15,
  report: 16,
  have: 19,
  pulse: 20,
  holdings: 22,
  flipped: 23,
  retell: 24,
  withdraw: 25,
};

const typesByNumber = new Map(Object.entries(typeNumbers).map(([type, number]) => [number, type as PeerMessageType]));

const headerBytes = 2;
/** The header of a block: its id, 6 bytes, most significant first, follows the common header. */
export const blockHeaderBytes = headerBytes + 6;

/**
 * `message` as the frames of one WebSocket message: one, or two for a block, whose bytes are sent without a copy. They must not be changed
 * until they are sent. Throws `frame-too-large`.
 */
export function encodeMessage(message: PeerMessage): [Buffer] | [Buffer, Uint8Array] {
  const first = message.type === 'block' ? blockHeader(message.id) : packBody(bodyOf(message), headerBytes);
  const bytes = message.type === 'block' ? message.bytes : undefined;
  const length = first.length + (bytes?.length ?? 0);
  if (length > frameBytesMax) {
    throw new LockstepError('frame-too-large', `A message ${message.type} of ${length} bytes is too large to be sent.`);
  }
  first[0] = formatVersion;
  first[1] = typeNumbers[message.type];
  return bytes === undefined ? [first] : [first, bytes];
}

function bodyOf(message: Exclude<PeerMessage, BlockMessage>): unknown {
  if (message.type === 'operations') return encodeOperations(message.id, message.carried);
  const { type, ...fields } = message;
  return fields;
}

/** The header of a block, without format and type. */
export function blockHeader(id: number): Buffer {
  const header = Buffer.allocUnsafe(blockHeaderBytes);
  header.writeUIntBE(id, headerBytes, 6);
  return header;
}

/**
 * The message in the frames of one WebSocket message, checked in every field. Throws a LockstepError that names the wrong field. Byte
 * arrays of the result have memory of their own. That of a block may be a frame's, so the frames must not be used again.
 */
export function decodeMessage(frames: readonly Buffer[]): PeerMessage {
  let length = 0;
  for (const frame of frames) length += frame.length;
  if (length > frameBytesMax) {
    throw new LockstepError('frame-too-large', `The message has ${length} bytes, more than ${frameBytesMax}.`);
  }
  const [first, second] = frames;
  // The form in which a block is sent. Any other division into frames is valid and costs a copy.
  if (
    frames.length === 2 &&
    first?.length === blockHeaderBytes &&
    second !== undefined &&
    messageTypeOf(first) === 'block'
  ) {
    return decodeBlock(first, second);
  }
  const whole = frames.length === 1 && first !== undefined ? first : Buffer.concat(frames);
  const type = messageTypeOf(whole);
  if (type === 'block') return decodeBlock(whole, whole.subarray(blockHeaderBytes));
  const body = unpack(type, whole.subarray(headerBytes));
  return type === 'operations' ? { type, ...decodeOperations(body) } : decodeMap(type, body);
}

/** True if a message that begins with these bytes can only be a block. */
export function beginsBlock(message: Uint8Array): boolean {
  return message.length >= blockHeaderBytes && message[0] === formatVersion && message[1] === typeNumbers.block;
}

/** The number of the type of a message in frames, however it is divided. */
export function typeNumberOf([first, second]: readonly Buffer[]): number | undefined {
  const length = first?.length ?? 0;
  return length > 1 ? first?.[1] : second?.[1 - length];
}

/** The type of a message that begins with these bytes. Throws a LockstepError if there is none. */
export function messageTypeOf(message: Buffer): PeerMessageType {
  if (message.length < headerBytes) throw frameFault('header', 'is cut short');
  if (message[0] !== formatVersion) {
    throw frameFault('header', `has the format version ${message[0]}, not ${formatVersion}`);
  }
  const type = typesByNumber.get(message[1] as number);
  if (type === undefined) throw frameFault('header', `has the unknown message type ${message[1]}`);
  return type;
}

function unpack(type: PeerMessageType, bytes: Buffer): unknown {
  try {
    return unpackBody(bytes);
  } catch (cause) {
    const what = cause instanceof LockstepError ? cause.message : 'the body is not MessagePack';
    throw new LockstepError('frame-invalid', `${type}: ${what}`, { cause });
  }
}

function decodeBlock(header: Buffer, bytes: Buffer): BlockMessage {
  if (header.length < blockHeaderBytes) throw frameFault('block', 'is cut short');
  if (bytes.length > blockBytes) throw frameFault('block', `has more than ${blockBytes} bytes`);
  const id = header.readUIntBE(headerBytes, 6);
  // A large frame has memory of its own; a small one is a view into the data read from the socket, with others.
  const isAlone = bytes.length === bytes.buffer.byteLength || bytes.buffer instanceof SharedArrayBuffer;
  const own = isAlone ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length) : new Uint8Array(bytes);
  return { type: 'block', id, bytes: own };
}

function decodeMap(type: MapMessageType, body: unknown): PeerMessage {
  const result = bodySchemas[type].safeParse(body);
  if (!result.success) {
    const [issue] = result.error.issues;
    throw frameFault([type, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'does not conform to the protocol');
  }
  return { type, ...result.data } as PeerMessage;
}
