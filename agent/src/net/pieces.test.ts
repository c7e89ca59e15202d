import { blockBytes, frameBytesMax } from '@lockstep/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blockOf } from '../../test/support/networks.ts';
import { anyMessage } from '../../test/support/peer-messages.ts';
import { BlockBuffers } from '../os/block-buffers.ts';
import { decodeMessage, encodeMessage } from './messages/codec.ts';
import { Assembly, decodeArrived, encodeArrived, lengthOf, Outbound, type Stream, sessionKindOf } from './pieces.ts';

const buffers = (frames: readonly Uint8Array[]): Buffer[] => frames.map((frame) => Buffer.from(frame));

/** The WebSocket messages in which a message is sent, in pieces of at most this size. */
function piecesOf(frames: ReturnType<typeof encodeMessage>, bytesMax: number, stream: Stream): Buffer[][] {
  const outbound = new Outbound(frames);
  const pieces: Buffer[][] = [];
  while (outbound.leftBytes > 0) pieces.push(buffers(outbound.take(bytesMax, stream)));
  return pieces;
}

describe('a message in pieces', () => {
  test('is the same when they are joined', () => {
    fc.assert(
      fc.property(anyMessage, fc.integer({ min: 16, max: 5_000 }), (message, bytesMax) => {
        const frames = encodeMessage(message);
        const pieces = piecesOf(frames, bytesMax, 'operations');
        expect(pieces.every((piece) => lengthOf(piece) <= bytesMax)).toBe(true);
        if (pieces.length === 1) expect(pieces[0]).toEqual(buffers(frames));
        else {
          expect(pieces.map((piece) => sessionKindOf(piece))).toEqual(pieces.map(() => 'piece'));
          const assembly = new Assembly(new BlockBuffers());
          const joined = pieces.map((piece) => assembly.add(piece));
          expect(joined.slice(0, -1).every((frames) => frames === undefined)).toBe(true);
          expect(decodeMessage(joined.at(-1) ?? [])).toEqual(decodeMessage(buffers(frames)));
        }
      }),
    );
  });

  test('a block has memory of its own, and its pieces are views of the sender’s', () => {
    const bytes = new Uint8Array(blockBytes).map((_, index) => index % 251);
    const outbound = new Outbound(encodeMessage({ type: 'block', id: 7, bytes }));
    const assembly = new Assembly(new BlockBuffers());
    let joined: readonly Buffer[] | undefined;
    while (outbound.leftBytes > 0) {
      const frames = outbound.take(100_000, 'blocks');
      expect(frames[1]?.buffer).toBe(bytes.buffer);
      joined = assembly.add(buffers(frames));
    }
    const message = decodeMessage(joined ?? []);
    if (message.type !== 'block') throw new Error(message.type);
    expect(Buffer.compare(message.bytes, bytes)).toBe(0);
    expect(message.bytes.buffer.byteLength).toBe(blockBytes);
  });

  test('[SY41] the bytes of a block that have come are known before it is complete', () => {
    const assembly = new Assembly(new BlockBuffers());
    const feed = (type: Stream, pieces: Buffer[][]) =>
      pieces.map((piece) => {
        assembly.add(piece);
        return [type, assembly.blockBytes()];
      });
    const block = encodeMessage({ type: 'block', id: 7, bytes: new Uint8Array(5_000) });
    const blockPieces = piecesOf(block, 2_000, 'blocks');
    const headerBytes = 3 + lengthOf(block) - 5_000;
    expect(feed('blocks', blockPieces)).toEqual([
      ['blocks', 2_000 - headerBytes],
      ['blocks', 4_000 - headerBytes - 3],
      ['blocks', 0],
    ]);
    const [start = []] = piecesOf(encodeMessage({ type: 'pulled', id: 1, total: 1, done: false }), 4, 'operations');
    assembly.add(start);
    expect(assembly.blockBytes()).toBe(0);
  });

  test('pieces of different streams may alternate', () => {
    const message = (fill: number) =>
      encodeMessage({ type: 'block', id: fill, bytes: new Uint8Array(9_000).fill(fill) });
    const [small, large] = [piecesOf(message(1), 2_000, 'small-blocks'), piecesOf(message(2), 2_000, 'blocks')];
    const assembly = new Assembly(new BlockBuffers());
    const complete = large.flatMap((piece, index) => [assembly.add(piece), assembly.add(small[index] ?? [])]);
    const ids = complete.flatMap((frames) => (frames === undefined ? [] : [decodeMessage(frames)]));
    expect(ids).toMatchObject([{ id: 2 }, { id: 1 }]);
  });

  test('may be divided into frames anywhere', () => {
    const frames = encodeMessage({ type: 'block', id: 3, bytes: new Uint8Array(5_000).fill(3) });
    for (const cut of [0, 1, 2, 3, 4, 1_000]) {
      const assembly = new Assembly(new BlockBuffers());
      const joined = piecesOf(frames, 2_000, 'blocks').map((piece) => {
        const whole = Buffer.concat(piece);
        const divided = [whole.subarray(0, cut), whole.subarray(cut)];
        expect(sessionKindOf(divided)).toBe('piece');
        return assembly.add(divided);
      });
      expect(decodeMessage(joined.at(-1) ?? [])).toMatchObject({ type: 'block', id: 3 });
    }
  });
});

describe('the place of the next frame', () => {
  const placed = (frames: readonly Buffer[], assembly: Assembly): Buffer[] => {
    const [head, rest] = frames;
    if (head === undefined || rest === undefined) throw new Error('the piece has one frame');
    const place = assembly.place([head], rest.length);
    if (place === undefined) throw new Error('there is no place');
    place.set(rest);
    return [head, Buffer.from(place.buffer, place.byteOffset, rest.length)];
  };

  test('[CT27] is its place in the block, whichever pieces come between', () => {
    const buffers = new BlockBuffers();
    const assembly = new Assembly(buffers);
    const bytes = new Uint8Array(blockBytes - 5).map((_, index) => index % 251);
    const other = new Uint8Array(100_000).fill(7);
    const pieces = piecesOf(encodeMessage({ type: 'block', id: 1, bytes }), 70_000, 'blocks');
    const between = piecesOf(encodeMessage({ type: 'block', id: 2, bytes: other }), 70_000, 'small-blocks');
    const whole = pieces.flatMap((piece, index) =>
      [piece, ...between.slice(index, index + 1)].map((each) => assembly.add(placed(each, assembly))),
    );
    const messages = whole.flatMap((frames) => (frames === undefined ? [] : [decodeMessage(frames)]));
    expect(messages.map((message) => message.type === 'block' && message.id)).toEqual([2, 1]);
    for (const [index, expected] of [other, bytes].entries()) {
      const message = messages[index];
      if (message?.type !== 'block') throw new Error('no block');
      expect(Buffer.compare(message.bytes, expected)).toBe(0);
      expect(message.bytes.buffer).toBeInstanceOf(SharedArrayBuffer);
    }
  });

  test('is none for other messages, and for more than a block may have', () => {
    const assembly = new Assembly(new BlockBuffers());
    const [piece = []] = piecesOf(encodeMessage(blockOf(1)), 100_000, 'blocks');
    expect(assembly.place([], 300_000)).toBeUndefined();
    expect(assembly.place([Buffer.from([1, 3])], 300_000)).toBeUndefined();
    expect(assembly.place([Buffer.from([1, 17, 0])], 300_000)).toBeUndefined();
    expect(assembly.place(buffers(encodeMessage(blockOf(1))).slice(0, 1), blockBytes + 1)).toBeUndefined();
    assembly.add(piece);
    expect(assembly.place([Buffer.from([1, 17, 2])], blockBytes)).toBeUndefined();
    expect(() => assembly.add([Buffer.from([1, 17, 2]), Buffer.alloc(blockBytes)])).toThrow('block has more than');
  });
});

describe('[SY6] a piece is refused', () => {
  test.each([
    ['that is cut short', [1, 17], 'piece is cut short'],
    ['of an unknown stream', [1, 17, 3, 0], 'piece belongs to the unknown stream 3'],
  ])('%s', (_what, bytes, fault) => {
    expect(() => new Assembly(new BlockBuffers()).add([Buffer.from(bytes)])).toThrow(fault);
  });

  test('of a message that is too large', () => {
    const assembly = new Assembly(new BlockBuffers());
    const piece = Buffer.alloc(frameBytesMax / 2);
    piece.set([1, 17, 0]);
    expect(assembly.add([piece])).toBeUndefined();
    expect(assembly.add([piece])).toBeUndefined();
    expect(() => assembly.add([piece])).toThrow(/The pieces of a message have \d+ bytes/);
  });
});

test('a report of arrived bytes', () => {
  const totalBytes = 2 ** 40 + 5;
  expect(decodeArrived([encodeArrived({ totalBytes, delayMs: 17.9 })])).toEqual({ totalBytes, delayMs: 17 });
  expect(decodeArrived([encodeArrived({ totalBytes, delayMs: 1e9 })])).toEqual({ totalBytes, delayMs: 65_535 });
  expect(sessionKindOf([encodeArrived({ totalBytes: 1, delayMs: 0 })])).toBe('arrived');
  expect(() => decodeArrived([Buffer.from([1, 18, 0])])).toThrow('arrived has 3 bytes, not 10');
});
