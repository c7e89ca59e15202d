import {
  type BlockMessage,
  blockBytes,
  frameBytesMax,
  LockstepError,
  type PeerMessage,
  type PeerMessageType,
} from '@lockstep/shared';
import { frameFault } from './frame-fault.ts';
import { packBody, unpackBody } from './message-pack.ts';
import { bodySchemas, type MapMessageType } from './message-schema.ts';
import { decodeOperations } from './operation-decode.ts';
import { encodeOperations } from './operation-encode.ts';

/** First byte of every frame: how the rest is laid out. */
const formatVersion = 1;

/** Message types by their number in the second byte. A number is never given out again. */
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
  'heartbeat-reply': 12,
  leave: 13,
};

const typesByNumber = new Map(Object.entries(typeNumbers).map(([type, number]) => [number, type as PeerMessageType]));

const headerBytes = 2;
/** A block's bytes follow the header and its id, 6 bytes, most significant first. */
const blockHeaderBytes = headerBytes + 6;

/** `message` as one frame. */
export function encodeMessage(message: PeerMessage): Buffer {
  const frame = message.type === 'block' ? encodeBlock(message) : packBody(bodyOf(message), headerBytes);
  if (frame.length > frameBytesMax) {
    throw new LockstepError(
      'frame-too-large',
      `A message ${message.type} of ${frame.length} bytes does not fit into a frame.`,
    );
  }
  frame[0] = formatVersion;
  frame[1] = typeNumbers[message.type];
  return frame;
}

function bodyOf(message: Exclude<PeerMessage, BlockMessage>): unknown {
  if (message.type === 'operations') return encodeOperations(message.id, message.carried);
  const { type, ...fields } = message;
  return fields;
}

function encodeBlock({ id, bytes }: BlockMessage): Buffer {
  const frame = Buffer.allocUnsafeSlow(blockHeaderBytes + bytes.length);
  frame.writeUIntBE(id, headerBytes, 6);
  frame.set(bytes, blockHeaderBytes);
  return frame;
}

/**
 * The message that `frame` holds, checked in every field. Throws a LockstepError that names the field that is wrong. Byte arrays of the
 * result have an ArrayBuffer of their own, which may be transferred; that of a block may be the frame's, so `frame` must not be used again.
 */
export function decodeMessage(frame: Buffer): PeerMessage {
  if (frame.length > frameBytesMax) {
    throw new LockstepError('frame-too-large', `The frame has ${frame.length} bytes, more than ${frameBytesMax}.`);
  }
  if (frame.length < headerBytes) throw frameFault('header', 'is cut short');
  if (frame[0] !== formatVersion)
    throw frameFault('header', `has the format version ${frame[0]}, not ${formatVersion}`);
  const type = typesByNumber.get(frame[1] as number);
  if (type === undefined) throw frameFault('header', `has the unknown message type ${frame[1]}`);
  if (type === 'block') return decodeBlock(frame);
  const body = unpack(type, frame.subarray(headerBytes));
  return type === 'operations' ? { type, ...decodeOperations(body) } : decodeMap(type, body);
}

function unpack(type: PeerMessageType, bytes: Buffer): unknown {
  try {
    return unpackBody(bytes);
  } catch (cause) {
    const what = cause instanceof LockstepError ? cause.message : 'the body is not MessagePack';
    throw new LockstepError('frame-invalid', `${type}: ${what}`, { cause });
  }
}

function decodeBlock(frame: Buffer): BlockMessage {
  if (frame.length < blockHeaderBytes) throw frameFault('block', 'is cut short');
  if (frame.length - blockHeaderBytes > blockBytes) throw frameFault('block', `has more than ${blockBytes} bytes`);
  const id = frame.readUIntBE(headerBytes, 6);
  const { buffer, byteOffset, length } = frame;
  // A large frame was put together in memory of its own; a small one lies in what was read from the socket, beside others.
  const isAlone = length === buffer.byteLength && buffer instanceof ArrayBuffer;
  const bytes = isAlone
    ? new Uint8Array(buffer, byteOffset + blockHeaderBytes)
    : new Uint8Array(frame.subarray(blockHeaderBytes));
  return { type: 'block', id, bytes };
}

function decodeMap(type: MapMessageType, body: unknown): PeerMessage {
  const result = bodySchemas[type].safeParse(body);
  if (!result.success) {
    const [issue] = result.error.issues;
    throw frameFault([type, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is not what the protocol says');
  }
  return { type, ...result.data } as PeerMessage;
}
