import { blockBytes, type ContentId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import type { Draft } from '../ports/folder.ts';
import { fillDraft } from './fill-draft.ts';

/** A draft in memory, which begins with `bytes`. */
class MemoryDraft implements Draft {
  readonly name = 'draft';
  readonly blocks: Uint8Array[] = [];

  constructor(bytes: Uint8Array) {
    for (let at = 0; at < bytes.length; at += blockBytes) this.blocks.push(bytes.slice(at, at + blockBytes));
  }

  get bytes(): Buffer {
    return Buffer.concat(this.blocks);
  }

  async copy() {
    return 'ok' as const;
  }

  async add(bytes: Uint8Array, index = this.blocks.length) {
    this.blocks[index] = bytes.slice();
    return 'ok' as const;
  }

  async finish() {
    return { content: 'b3:' as ContentId, size: this.bytes.length };
  }

  async drop() {}
}

/** The bytes in chunks of this length. */
async function* inChunks(bytes: Uint8Array, length: number): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

test.each([
  [0, 10],
  [5, 1],
  [blockBytes - 3, 6],
  [blockBytes, blockBytes],
  [blockBytes + 5, blockBytes - 5],
  [10, 2 * blockBytes],
  [0, 3 * blockBytes + 7],
  [3 * blockBytes - 5, 100],
  [3 * blockBytes + 7, 10],
  [3 * blockBytes + 7, 2 * blockBytes],
])('[FA7] from %d on, %d bytes are replaced, and the others stay', async (start, length) => {
  const before = Buffer.alloc(3 * blockBytes + 7, 'before ');
  const bytes = Buffer.alloc(length, 'after');
  const expected = Buffer.concat([before.subarray(0, start), bytes, before.subarray(start + length)]);
  for (const chunkBytes of [blockBytes, 65_521]) {
    const draft = new MemoryDraft(before);
    const block = async (index: number) => before.subarray(index * blockBytes, (index + 1) * blockBytes);
    const content = await fillDraft(draft, inChunks(bytes, chunkBytes), 'file', { start, block });
    expect(content).toMatchObject({ size: expected.length });
    expect(draft.bytes.equals(expected)).toBe(true);
  }
});
