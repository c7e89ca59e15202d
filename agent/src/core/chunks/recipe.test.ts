import { describe, expect, test } from 'vitest';
import { chunkBytesMax, chunkBytesMin } from './chunker.ts';
import { chunksOf, recipeOf } from './recipe.ts';

/** A hash that is only the length and the first byte. */
const hash = (bytes: Uint8Array) => new Uint8Array(32).fill(bytes[0] ?? 0).fill(bytes.length % 251, 1, 2);

/** A recipe of chunks of these lengths. */
function described(...lengths: readonly number[]): Uint8Array {
  const recipe = Buffer.alloc(20 * lengths.length);
  for (const [index, length] of lengths.entries()) recipe.writeUInt32BE(length, 20 * index);
  return new Uint8Array(recipe);
}

describe('[CT26] a recipe', () => {
  test('says length and hash of each chunk', () => {
    const bytes = new Uint8Array(2 * chunkBytesMax + 9).fill(5);
    const chunks = chunksOf(recipeOf(bytes, hash), bytes.length);
    expect(chunks?.map(({ offset, length }) => [offset, length])).toEqual([
      [0, chunkBytesMax],
      [chunkBytesMax, chunkBytesMax],
      [2 * chunkBytesMax, 9],
    ]);
    expect(chunks?.[2]?.hash).toEqual(new Uint8Array(16).fill(5).fill(9, 1, 2));
  });

  test.each([
    { name: 'cut short', recipe: described(9_000).subarray(0, 19), size: 9_000 },
    { name: 'of another size', recipe: described(9_000, 9_000), size: 18_001 },
    { name: 'of nothing', recipe: described(), size: 1 },
    { name: 'with an empty chunk', recipe: described(9_000, 0), size: 9_000 },
    {
      name: 'with a chunk that is too short',
      recipe: described(chunkBytesMin - 1, 9_000),
      size: chunkBytesMin + 8_999,
    },
    { name: 'with a chunk that is too long', recipe: described(chunkBytesMax + 1), size: chunkBytesMax + 1 },
    { name: 'with a length near 2³²', recipe: described(2 ** 32 - 1), size: 2 ** 32 - 1 },
  ])('$name is none', ({ recipe, size }) => {
    expect(chunksOf(recipe, size)).toBeUndefined();
  });
});
