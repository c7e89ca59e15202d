import { blockHashBytes, hashOfBlock } from '../blocks.ts';

/** The place of an equal block: `index` in one of the other contents. A block of zeros needs no other content. */
export type EqualBlock = { readonly other: number; readonly index: number } | 'zeros';

/**
 * The blocks of a content that are also in other contents, by their index. `wanted`, and each of `others`: the joined block hashes of a content.
 * `zeros`: the hash of a block of zeros. A block at the same place comes first, so that an unchanged file is read in order. The last block is
 * never one of zeros: it gives a file its size.
 */
export function equalBlocks(
  wanted: Uint8Array,
  others: readonly Uint8Array[],
  zeros: Uint8Array,
): ReadonlyMap<number, EqualBlock> {
  const found = new Map<number, EqualBlock>();
  const count = wanted.length / blockHashBytes;
  let places: ReadonlyMap<bigint, { readonly other: number; readonly index: number }> | undefined;
  for (let index = 0; index < count; index++) {
    const hash = hashOfBlock(wanted, index);
    if (index < count - 1 && isSame(hash, zeros)) {
      found.set(index, 'zeros');
      continue;
    }
    const same = others.findIndex((blocks) => isAt(blocks, index, hash));
    if (same >= 0) {
      found.set(index, { other: same, index });
      continue;
    }
    places ??= placesIn(others);
    const place = places.get(keyOf(hash));
    if (place !== undefined && isAt(others[place.other] ?? hash, place.index, hash)) found.set(index, place);
  }
  return found;
}

/** The first place of each block, by the first bytes of its hash. */
function placesIn(others: readonly Uint8Array[]): Map<bigint, { readonly other: number; readonly index: number }> {
  const places = new Map<bigint, { readonly other: number; readonly index: number }>();
  for (const [other, blocks] of others.entries()) {
    for (let index = 0; index < blocks.length / blockHashBytes; index++) {
      const key = keyOf(hashOfBlock(blocks, index));
      if (!places.has(key)) places.set(key, { other, index });
    }
  }
  return places;
}

function keyOf(hash: Uint8Array): bigint {
  return new DataView(hash.buffer, hash.byteOffset, hash.byteLength).getBigUint64(0);
}

function isAt(blocks: Uint8Array, index: number, hash: Uint8Array): boolean {
  return (index + 1) * blockHashBytes <= blocks.length && isSame(hashOfBlock(blocks, index), hash);
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
