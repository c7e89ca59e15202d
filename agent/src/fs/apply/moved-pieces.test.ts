import { createHash } from 'node:crypto';
import { blockBytes } from '@lockstep/shared';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { chunksOf } from '../../core/chunks/recipe.ts';
import { type DiskSubject, openDiskSubject } from '../disk-subject.contract.ts';
import { expectBytes, fingerprintAt, writeRequest } from '../folder-subject.contract.ts';

let subject: DiskSubject;
beforeEach(async () => {
  subject = await openDiskSubject();
});
afterEach(() => subject.close());

/** The same bytes in each run: where random ones are inserted, a chunk of them ends once in some hundred runs. */
const bytesOf = (seed: string, outputLength: number): Buffer =>
  createHash('shake256', { outputLength }).update(seed).digest();

const old = bytesOf('old', 2 * blockBytes);
/** A byte is inserted before all, and ten in the middle of the second block. */
const changed = Buffer.concat([
  Buffer.from('x'),
  old.subarray(0, 1.5 * blockBytes),
  bytesOf('inserted', 10),
  old.subarray(1.5 * blockBytes),
]);

async function blockAt(path: string, bytes: Uint8Array, index: number) {
  const source = { from: 'file', path, fingerprint: await fingerprintAt(subject, path) } as const;
  return { ...subject.identify(bytes), size: bytes.length, index, source };
}

test('[CT26] the recipe of a block is made of its bytes, once they are verified', async () => {
  await subject.user.write('new', changed);
  const { pieces } = subject.folder;
  const block = await blockAt('new', changed, 0);
  const recipe = await pieces.recipe(block);
  expect(chunksOf(recipe ?? new Uint8Array(), blockBytes)?.length).toBeGreaterThan(16);
  const wrong = await blockAt('new', old, 0);
  expect(await pieces.recipe(wrong)).toBeUndefined();
  await subject.user.write('new', old);
  expect(await pieces.recipe(wrong)).toBeDefined();
  await subject.user.remove('new');
  expect(await pieces.recipe({ ...block, index: 1 })).toBeUndefined();
});

test('[CT25] chunks are found where they are expected, and behind an insertion from the chunk that follows it', async () => {
  await subject.user.write('old', old);
  await subject.user.write('new', changed);
  const { pieces } = subject.folder;
  const recipe = (await pieces.recipe(await blockAt('new', changed, 1))) as Uint8Array;
  const chunks = chunksOf(recipe, blockBytes) ?? [];
  const block = { offset: blockBytes, size: blockBytes, recipe };
  const none = new Float64Array(chunks.length).fill(-1);
  const sought = { path: 'old', shift: -1, blocks: [{ ...block, places: none }] };
  const [before = none] = await pieces.find(sought);
  const lost = before.findIndex((place) => place < 0);
  expect(lost).toBeGreaterThan(8);
  expect([...before.subarray(lost)].every((place) => place < 0)).toBe(true);
  // One chunk behind the insertion is known, the last one: the others follow from it.
  const places = none.slice();
  const last = chunks.at(-1);
  if (last === undefined) throw new Error('the recipe is empty');
  places[chunks.length - 1] = blockBytes + last.offset - 11;
  const [found = none] = await pieces.find({ ...sought, blocks: [{ ...block, places }] });
  expect([...found].filter((place) => place < 0)).toHaveLength(1);
  for (const [index, { offset, length }] of chunks.entries()) {
    const place = found[index] ?? -1;
    const start = blockBytes + offset;
    if (place >= 0) expectBytes(old.subarray(place, place + length), changed.subarray(start, start + length));
  }
  await subject.user.remove('old');
  expect(await pieces.find(sought)).toEqual([none]);
});

test('[CT25] a block is joined from ranges of a file and bytes that came, and left out if that does not make it', async () => {
  await subject.user.write('old', old);
  const { folder } = subject;
  const content = { ...subject.identify(changed), size: changed.length };
  const joined = (index: number, pieces: readonly (Uint8Array | { offset: number; length: number })[]) => ({
    index,
    from: { path: 'old', pieces },
  });
  const half = 0.5 * blockBytes;
  const first = joined(0, [new Uint8Array([120]), { offset: 0, length: blockBytes - 1 }]);
  const second = joined(1, [
    { offset: blockBytes - 1, length: half + 1 },
    new Uint8Array(changed.subarray(1 + 1.5 * blockBytes, 1 + 1.5 * blockBytes + 10)),
    { offset: 1.5 * blockBytes, length: half - 11 },
  ]);
  const third = joined(2, [{ offset: 2 * blockBytes - 11, length: 11 }]);
  const wrong = [
    joined(0, [{ offset: 0, length: blockBytes }]),
    joined(0, [{ offset: 0, length: 5 }]),
    joined(0, []),
    joined(2, [{ offset: 2 * blockBytes, length: 11 }]),
    joined(0, [new Uint8Array(2 * blockBytes)]),
  ];
  expect(await folder.stageCopies({ path: 'file', ...content, copies: wrong })).toEqual({ result: 'ok', added: [] });
  const all = [first, ...wrong, second, third];
  expect(await folder.stageCopies({ path: 'file', ...content, copies: all })).toEqual({
    result: 'ok',
    added: [0, 1, 2],
  });
  const request = writeRequest(subject, 'new', changed, { source: { from: 'staged' } });
  expect(await folder.apply([request])).toMatchObject([{ result: 'done' }]);
  expectBytes((await subject.user.look('new'))?.bytes, changed);
});
