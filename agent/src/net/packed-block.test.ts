import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { blockBytes } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { LinkProxy } from '../../../testkit/link-proxy.ts';
import {
  afterTest,
  ant,
  bee,
  firstOf,
  openPair,
  openTestNetwork,
  receive,
  until,
} from '../../test/support/networks.ts';
import { CompressionRule } from '../core/traffic/compression.ts';
import { blockHeader, formatVersion } from './messages/codec.ts';
import { isPacked, packBlock, packedType, unpackBlock } from './packed-block.ts';

const always = () => new CompressionRule('always', false);
const text = (length: number) => Buffer.alloc(length, 'lorem ipsum dolor sit amet ');

/** The frame of a compressed block with these bytes in it. */
function frameOf(packed: Uint8Array, id = 7): Buffer {
  const header = blockHeader(id);
  header[0] = formatVersion;
  header[1] = packedType;
  return Buffer.concat([header, packed]);
}

describe('[CT28] a compressed block', () => {
  test.each([4_096, 100_000, blockBytes])(
    'of %d bytes is smaller, and is unpacked to the same bytes',
    async (length) => {
      const bytes = text(length);
      const frames = await packBlock({ type: 'block', id: 2 ** 40, bytes }, always());
      expect(frames?.[1]?.length).toBeLessThan(length / 10);
      const buffers = (frames ?? []).map((frame) => Buffer.from(frame));
      expect(isPacked(buffers)).toBe(true);
      // However it was divided into frames.
      for (const divided of [buffers, [Buffer.concat(buffers)]]) {
        const block = await unpackBlock(divided);
        expect(block.id).toBe(2 ** 40);
        expect(Buffer.from(block.bytes).equals(bytes)).toBe(true);
      }
    },
  );

  test.each([5_000, blockBytes])('is not made of %d bytes that do not shrink', async (length) => {
    expect(await packBlock({ type: 'block', id: 1, bytes: randomBytes(length) }, always())).toBe(undefined);
  });

  test.each([
    ['noise', frameOf(Buffer.from('noise'))],
    ['a part of one', frameOf(deflateRawSync(text(blockBytes)).subarray(0, 100))],
    ['more than a block', frameOf(deflateRawSync(Buffer.alloc(blockBytes + 1)))],
    ['a bomb', frameOf(deflateRawSync(Buffer.alloc(256 * blockBytes)))],
    ['nothing', frameOf(new Uint8Array())],
    ['a part of the header', frameOf(new Uint8Array()).subarray(0, 5)],
  ])('that is %s is refused', async (_, frame) => {
    await expect(unpackBlock([frame])).rejects.toThrow(/^packed/);
  });
});

test('[CT28] a session compresses blocks that shrink, in shared memory too, and sends others as they are', async () => {
  const listener = await openTestNetwork(bee);
  const proxy = await LinkProxy.open(() => listener.network.address.port);
  afterTest(() => proxy.close());
  const { network } = await openTestNetwork(ant, { compression: 'always' });
  const dialled = await network.dial(proxy.address);
  const accepted = await firstOf(listener.links);
  receive(dialled);
  const received = receive(accepted);
  const shared = new Uint8Array(new SharedArrayBuffer(blockBytes)).fill(65);
  const blocks = [text(blockBytes), randomBytes(blockBytes), text(100), text(5_000), shared];
  // The memory of a block is given back once it was sent.
  const expected = blocks.map((bytes) => Buffer.from(bytes));
  for (const [id, bytes] of blocks.entries()) dialled.send({ type: 'block', id, bytes });
  expect(dialled.queuedBytes('blocks')).toBeGreaterThan(blockBytes);
  await until(() => expect(received.messages).toHaveLength(blocks.length));
  for (const message of received.messages) {
    if (message.type !== 'block') throw new Error(message.type);
    expect(Buffer.from(message.bytes).equals(expected[message.id] as Buffer)).toBe(true);
  }
  await until(() => expect(dialled.queuedBytes()).toBe(0));
  // One of five blocks of a mebibyte was random.
  expect(proxy.bytes).toBeLessThan(1.2 * blockBytes);
  // Rates of sources are those of contents.
  expect(accepted.receivedBytes()).toBeGreaterThan(3 * blockBytes);
});

test('[CT28] blocks that are being compressed when the session ends are dropped', async () => {
  const { dialled, accepted } = await openPair({ compression: 'always' });
  receive(dialled);
  const received = receive(accepted);
  for (let id = 0; id < 4; id++) dialled.send({ type: 'block', id, bytes: text(blockBytes) });
  dialled.close('going home');
  await until(() => expect(received.ends).toEqual(['going home']));
  expect(dialled.queuedBytes()).toBe(0);
});
