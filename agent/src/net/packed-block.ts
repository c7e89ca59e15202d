import { promisify } from 'node:util';
import { constants, deflateRaw, inflateRaw } from 'node:zlib';
import { type BlockMessage, blockBytes, LockstepError } from '@lockstep/shared';
import type { CompressionRule } from '../core/traffic/compression.ts';
import { frameFault } from './frame-fault.ts';
import { blockHeader, blockHeaderBytes, formatVersion, typeNumberOf } from './messages/codec.ts';
import type { Frames } from './pieces.ts';

/** The number of a compressed block, in the row of message types. */
export const packedType = 21;

/** The part of a block that shows whether it shrinks. */
const sampleBytes = 65_536;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);
/** The output comes in buffers of this size, each by a turn of the thread pool: with Node's 16 KiB a block costs half as much again. */
const chunkSize = 65_536;
/** Higher levels of DEFLATE gain little here, and are several times as slow. */
const fast = { level: constants.Z_BEST_SPEED, chunkSize };

/** The frames of a block whose bytes are compressed. Undefined if they do not become smaller. */
export async function packBlock({ id, bytes }: BlockMessage, rule: CompressionRule): Promise<Frames | undefined> {
  if (bytes.length > 2 * sampleBytes) {
    const middle = (bytes.length - sampleBytes) >> 1;
    const sample = await deflate(bytes.subarray(middle, middle + sampleBytes), fast);
    if (!rule.tried(sampleBytes, sample.length)) return undefined;
  }
  const packed = await deflate(bytes, fast);
  if (!rule.tried(bytes.length, packed.length)) return undefined;
  const header = blockHeader(id);
  header[0] = formatVersion;
  header[1] = packedType;
  return [header, packed];
}

/** True if these are the frames of one whole message that is a compressed block. */
export function isPacked(frames: readonly Buffer[]): boolean {
  return typeNumberOf(frames) === packedType;
}

/** The block in the frames of a compressed one. Rejects with a LockstepError if it is not valid, or too large. */
export async function unpackBlock(frames: readonly Buffer[]): Promise<BlockMessage> {
  // A copy: frames may be views into the memory of the next read.
  const message = Buffer.concat(frames);
  if (message.length < blockHeaderBytes) throw frameFault('packed', 'is cut short');
  if (message[0] !== formatVersion) throw frameFault('packed', `has the format version ${message[0]}`);
  const id = message.readUIntBE(2, 6);
  try {
    const bytes = await inflate(message.subarray(blockHeaderBytes), { maxOutputLength: blockBytes, chunkSize });
    return { type: 'block', id, bytes };
  } catch (cause) {
    throw new LockstepError('frame-invalid', 'packed: the bytes are not a compressed block', { cause });
  }
}
