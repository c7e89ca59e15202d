import { blockBytes, inlineBytesMax } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { BlockBuffers } from './block-buffers.ts';

describe('[CT27] the memory of blocks', () => {
  test('is used again when it was given back, once', () => {
    const buffers = new BlockBuffers();
    const first = buffers.take(blockBytes);
    expect(buffers.take(blockBytes).buffer).not.toBe(first.buffer);
    buffers.giveBack(first.subarray(7, 9));
    buffers.giveBack(first);
    const again = buffers.take(100_000);
    expect(again.buffer).toBe(first.buffer);
    expect(again).toHaveLength(100_000);
    expect(buffers.take(blockBytes).buffer).not.toBe(first.buffer);
  });

  test('is ordinary memory for small blocks, and once the limit is reached', () => {
    const buffers = new BlockBuffers();
    expect(buffers.take(inlineBytesMax).buffer).toBeInstanceOf(ArrayBuffer);
    expect(buffers.take(0)).toHaveLength(0);
    const taken = Array.from({ length: 100 }, () => buffers.take(blockBytes));
    const shared = taken.filter(({ buffer }) => buffer instanceof SharedArrayBuffer);
    expect(shared.length).toBeGreaterThanOrEqual(16);
    expect(shared.length).toBeLessThan(taken.length);
    expect(taken.at(-1)).toHaveLength(blockBytes);
    for (const bytes of taken) buffers.giveBack(bytes);
    expect(new Set(Array.from({ length: shared.length }, () => buffers.take(blockBytes).buffer))).toEqual(
      new Set(shared.map(({ buffer }) => buffer)),
    );
  });

  test('of another agent is not taken back', () => {
    const [buffers, others] = [new BlockBuffers(), new BlockBuffers()];
    const bytes = others.take(blockBytes);
    buffers.giveBack(bytes);
    buffers.giveBack(new Uint8Array(blockBytes));
    expect(buffers.take(blockBytes).buffer).not.toBe(bytes.buffer);
  });
});
