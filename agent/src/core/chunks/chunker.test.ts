import { blockBytes } from '@lockstep/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Random } from '../../sim/base/random.ts';
import { chunkBytesMax, chunkBytesMin, chunkBytesNormal, chunkEnd } from './chunker.ts';

/** Pseudorandom bytes, the same for each seed. */
function bytesOf(seed: number, length: number): Uint8Array {
  const random = new Random(seed);
  return Uint8Array.from({ length }, () => Math.floor(random.unit() * 256));
}

function chunksIn(bytes: Uint8Array): readonly Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = chunkEnd(bytes, start);
    chunks.push(bytes.subarray(start, end));
    start = end;
  }
  return chunks;
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');

describe('[CT25] chunks', () => {
  test('are the bytes in order, each within its limits, and the same whatever surrounds the bytes in memory', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 31 }),
        fc.integer({ min: 0, max: 300_000 }),
        fc.nat(100),
        (seed, length, margin) => {
          const bytes = bytesOf(seed, length);
          const around = new Uint8Array(length + 2 * margin);
          around.set(bytes, margin);
          const chunks = chunksIn(bytes);
          expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
          for (const [index, chunk] of chunks.entries()) {
            expect(chunk.length).toBeLessThanOrEqual(chunkBytesMax);
            if (index < chunks.length - 1) expect(chunk.length).toBeGreaterThan(chunkBytesMin);
          }
          const lengths = (all: readonly Uint8Array[]) => all.map((chunk) => chunk.length);
          expect(lengths(chunksIn(around.subarray(margin, margin + length)))).toEqual(lengths(chunks));
        },
      ),
      { numRuns: 15 },
    );
  });

  test('stay the same, but for a few, when bytes are inserted', () => {
    const places = fc.integer({ min: 0, max: blockBytes });
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 31 }),
        places,
        fc.integer({ min: 1, max: 50 }),
        (seed, place, count) => {
          const bytes = bytesOf(seed, blockBytes);
          const longer = Buffer.concat([bytes.subarray(0, place), bytesOf(seed + 1, count), bytes.subarray(place)]);
          const before = new Set(chunksIn(bytes).map(textOf));
          const others = chunksIn(longer).filter((chunk) => !before.has(textOf(chunk)));
          expect(others.reduce((sum, chunk) => sum + chunk.length, 0)).toBeLessThan(12 * chunkBytesNormal);
        },
      ),
      { numRuns: 5 },
    );
  });

  test('have about the normal length, and bytes without a cut are divided at the largest one', () => {
    const count = chunksIn(bytesOf(7, 4 * blockBytes)).length;
    expect((4 * blockBytes) / count).toBeGreaterThan(chunkBytesNormal);
    expect((4 * blockBytes) / count).toBeLessThan(1.5 * chunkBytesNormal);
    expect(chunksIn(new Uint8Array(3 * chunkBytesMax + 1)).map(({ length }) => length)).toEqual([
      chunkBytesMax,
      chunkBytesMax,
      chunkBytesMax,
      1,
    ]);
  });

  test('are cut where docs/PROTOCOL.md says', () => {
    const bytes = Uint8Array.from({ length: 131_072 }, (_, index) => Math.imul(index, index) >>> 7);
    expect(chunksIn(bytes).map(({ length }) => length)).toEqual([17639, 19405, 23357, 22774, 19405, 23357, 5135]);
  });
});
