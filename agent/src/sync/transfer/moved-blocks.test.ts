import { blockBytes, blockTimeoutMs, type Operation, type WantMessage } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { chunksOf, recipeOf } from '../../core/chunks/recipe.ts';
import { blockOf, type Content, simBlockHash, virtualContent } from '../../sim/disk/content.ts';

const blocks = 20;

/** The answer of a truthful member. */
function truth(want: WantMessage, content: Content): Uint8Array {
  const block = blockOf(content, want.index);
  if (want.recipe === true) return recipeOf(block, simBlockHash);
  if (want.ranges === undefined) return block;
  return Buffer.concat(want.ranges.map(([offset, length]) => block.subarray(offset, offset + length)));
}

const kindOf = ({ recipe, ranges }: WantMessage) =>
  recipe === true ? 'recipe' : ranges === undefined ? 'whole' : 'ranges';

/**
 * Bee has a new version of a file that the member holds, with another first page in each block. `answer`: what bee answers to a want for it;
 * undefined for nothing. Cat has it as well, and is asked if bee fails.
 */
async function edited(answer: (want: WantMessage, content: Content, bee: ScriptedPeer) => Uint8Array | undefined) {
  const [bee, cat] = [new ScriptedPeer('b'), new ScriptedPeer('c')];
  const before = virtualContent('before', blocks * blockBytes);
  const after = virtualContent('after', blocks * blockBytes);
  const asked: WantMessage[] = [];
  const askedCat: WantMessage[] = [];
  bee.answer = (message) => {
    if (message.type !== 'want') return;
    const isOld = message.content === before.id;
    if (!isOld) asked.push(message);
    const bytes = isOld ? truth(message, before) : answer(message, after, bee);
    if (bytes !== undefined) bee.say({ type: 'block', id: message.id, bytes });
  };
  cat.answer = (message) => {
    if (message.type !== 'want') return;
    askedCat.push(message);
    cat.say({ type: 'block', id: message.id, bytes: truth(message, message.content === before.id ? before : after) });
  };
  const { origin } = bee;
  const operation = (seq: number, { id: content, size, blocks: hashes }: Content): Operation => {
    const file = { kind: 'put', mode: 0o644, mtimeUs: 0, content, size, ...(hashes && { blocks: hashes }) } as const;
    return { origin, seq, hlc: seq, path: 'image', version: { vector: { [origin]: seq } }, ...file };
  };
  const member = openTestMember([bee, cat]);
  void member.engine.start();
  expect(await member.until(() => member.engine.lifecycle.state === 'active', 10_000)).toBe(true);
  const shows = ({ id }: Content) => member.volume.disk.at('image')?.content?.id === id;
  bee.known = { [origin]: 1 };
  bee.sayOperations([operation(1, before)]);
  expect(await member.until(() => shows(before), 30_000)).toBe(true);
  askedCat.splice(0);
  cat.known = { [origin]: 2 };
  bee.known = { [origin]: 2 };
  bee.sayOperations([operation(2, after)]);
  const isDone = await member.until(() => shows(after), 4 * blockTimeoutMs);
  return { ...member, isDone, asked, askedCat, before, after };
}

const kinds = (wants: readonly WantMessage[], kind: string) => wants.filter((want) => kindOf(want) === kind);

test('[CT25] of blocks that changed in part, only the chunks that are new are requested', async () => {
  const { isDone, asked, askedCat, engine } = await edited(truth);
  expect(isDone).toBe(true);
  expect(kinds(asked, 'whole')).toEqual([]);
  expect(kinds(asked, 'recipe').map(({ index }) => index)).toEqual(Array.from({ length: blocks }, (_, index) => index));
  const ranges = kinds(asked, 'ranges');
  expect(ranges).toHaveLength(blocks);
  for (const { ranges: some } of ranges) expect(some).toEqual([[0, 65_536]]);
  expect(askedCat).toEqual([]);
  expect(engine.totals.bytesReused).toBe(blocks * (blockBytes - 65_536));
});

test.each<[string, (recipe: Uint8Array) => Uint8Array]>([
  ['adds up to another size', (recipe) => recipe.subarray(0, -20).slice()],
  ['names a length that no chunk has', (recipe) => recipe.map((byte, at) => (at === 1 ? 255 : byte))],
  ['is cut short', (recipe) => recipe.slice(1)],
])('[CT26] a recipe that %s is dropped, and another source is asked', async (_what, spoil) => {
  const { isDone, asked, askedCat, journal } = await edited((want, content) => {
    const bytes = truth(want, content);
    return want.recipe === true ? spoil(bytes) : bytes;
  });
  expect(isDone).toBe(true);
  expect(asked.length).toBeLessThan(blocks);
  expect(askedCat.length).toBeGreaterThan(0);
  const reported = journal.events
    .after(0, 100)
    .some(({ kind, data }) => kind === 'problem' && JSON.stringify(data).includes('content-corrupt'));
  expect(reported).toBe(true);
});

test('[CT26] a recipe or ranges that lie cost only that the blocks are fetched whole', async () => {
  const { isDone, asked } = await edited((want, content) => {
    const bytes = truth(want, content);
    if (want.ranges !== undefined) return bytes.map((byte) => byte ^ 1);
    if (want.recipe !== true || want.index % 2 === 0) return bytes;
    // All chunks are what the first one of the old version is.
    const [first] =
      chunksOf(recipeOf(blockOf(virtualContent('before', blocks * blockBytes), 0), simBlockHash), blockBytes) ?? [];
    return bytes.map((byte, at) => (at % 20 < 4 ? byte : (first?.hash[(at % 20) - 4] ?? 0)));
  });
  expect(isDone).toBe(true);
  expect(kinds(asked, 'whole').length).toBeGreaterThan(0);
});

test('[CT26] a source that ends its session in the middle of recipes is replaced', async () => {
  const { isDone, askedCat } = await edited((want, content, bee) => {
    if (want.index < 5) return truth(want, content);
    bee.end('killed');
    return undefined;
  });
  expect(isDone).toBe(true);
  expect(kinds(askedCat, 'recipe').length).toBeGreaterThan(0);
});

test('[CT26] a source that does not answer requests for recipes is asked for the blocks themselves', async () => {
  const { isDone, asked } = await edited((want, content) => (want.recipe === true ? undefined : truth(want, content)));
  expect(isDone).toBe(true);
  expect(kinds(asked, 'whole')).not.toEqual([]);
});
