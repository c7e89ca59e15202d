import { type ContentId, filterBytesMax } from '@lockstep/shared';
import { blake3 } from '@napi-rs/blake-hash';
import { describe, expect, it } from 'vitest';
import { CountedHoldings } from './counted-holdings.ts';
import { differingPositions, HoldingsFilter, isFilterLength } from './holdings-filter.ts';

const contentOf = (name: string): ContentId => `b3:${blake3(Buffer.from(name)).toString('hex')}` as ContentId;
const held = Array.from({ length: 20_000 }, (_, index) => contentOf(`held ${index}`));
const absent = Array.from({ length: 100_000 }, (_, index) => contentOf(`absent ${index}`));

/** The filter after these contents came, made again whenever its size no longer fits. */
function grown(contents: readonly ContentId[], from = new CountedHoldings(0)): CountedHoldings {
  let counted = from;
  for (const [index, content] of contents.entries()) {
    counted.add(content);
    if (counted.isUnfit) counted = made(contents.slice(0, index + 1));
  }
  return counted;
}

function made(contents: readonly ContentId[]): CountedHoldings {
  const counted = new CountedHoldings(contents.length);
  for (const content of contents) counted.add(content);
  return counted;
}

function falseShare(bits: Uint8Array): number {
  const filter = new HoldingsFilter(1, bits);
  return absent.filter((content) => filter.mayHave(content)).length / absent.length;
}

describe('[OD14] the filter of the contents of a member', () => {
  it('takes at most 1.4 MB for 64 members with 10,000 files each, however they came there', () => {
    const contents = held.slice(0, 10_000);
    const shrunk = made(held);
    for (const [index, content] of held.slice(10_000).entries()) {
      shrunk.remove(content);
      if (shrunk.isUnfit) break;
      const files = held.length - index - 1;
      expect(shrunk.bits().length * 8).toBeLessThanOrEqual(17 * files);
    }
    const sizes = [grown(contents), made(contents)].map((counted) => new HoldingsFilter(1, counted.bits()).bytes);
    for (const bytes of sizes) {
      expect(bytes * 8).toBeLessThanOrEqual(17 * contents.length);
      expect(64 * bytes).toBeLessThanOrEqual(1_400_000);
    }
  });

  it('answers "no" for every content that is not there but 1 % of them, at any time of its growth', () => {
    const shares: number[] = [];
    let counted = new CountedHoldings(0);
    for (const [index, content] of held.slice(0, 12_000).entries()) {
      const before = counted.bits();
      counted.add(content);
      if (!counted.isUnfit) continue;
      // The fullest filter that was ever sent.
      if (index > 1_000) shares.push(falseShare(before));
      counted = made(held.slice(0, index + 1));
    }
    shares.push(falseShare(made(held.slice(0, 10_000)).bits()));
    expect(shares.length).toBeGreaterThan(5);
    expect(Math.max(...shares)).toBeLessThanOrEqual(0.01);
  });

  it('never answers "no" for a content that is there', () => {
    const filter = new HoldingsFilter(1, grown(held.slice(0, 5_000)).bits());
    expect(held.slice(0, 5_000).every((content) => filter.mayHave(content))).toBe(true);
  });

  it('forgets what is removed, and a content of two files with the second one', () => {
    const counted = made(held.slice(0, 200));
    const [twice] = held as [ContentId];
    counted.add(twice);
    const before = counted.bits();
    counted.remove(twice);
    expect(differingPositions(before, counted.bits())).toEqual([]);
    for (const content of held.slice(0, 200)) counted.remove(content);
    expect(counted.files).toBe(0);
    expect(counted.bits().every((byte) => byte === 0)).toBe(true);
  });

  it('keeps a bit whose counter is full', () => {
    const counted = new CountedHoldings(1_000_000);
    const [common] = held as [ContentId];
    for (let copies = 0; copies < 70_000; copies++) counted.add(common);
    for (let copies = 0; copies < 70_000; copies++) counted.remove(common);
    expect(new HoldingsFilter(1, counted.bits()).mayHave(common)).toBe(true);
  });

  it('is empty if the largest one is too small', () => {
    const counted = new CountedHoldings(2_000_000);
    const [common] = held as [ContentId];
    expect(counted.bits()).toHaveLength(filterBytesMax);
    counted.files = 1_600_000;
    counted.add(common);
    expect([counted.bits().length, counted.isUnfit]).toEqual([0, false]);
  });
});

describe('[OD14] the filter of another member', () => {
  it('follows by the bits that changed', () => {
    const counted = made(held.slice(0, 500));
    const before = counted.bits();
    const filter = new HoldingsFilter(1, before);
    for (const content of held.slice(0, 20)) counted.remove(content);
    for (const content of held.slice(500, 520)) counted.add(content);
    const positions = differingPositions(before, counted.bits());
    expect(filter.flip(2, positions)).toBe(true);
    const own = new HoldingsFilter(1, counted.bits());
    for (const content of held.slice(0, 1_000)) expect(filter.mayHave(content)).toBe(own.mayHave(content));
  });

  it('[OD15] refuses a position beyond its end and a state that is not the next one, and changes nothing then', () => {
    const counted = made(held.slice(0, 10));
    const filter = new HoldingsFilter(1, counted.bits());
    const positions = differingPositions(new Uint8Array(counted.bits().length), counted.bits());
    expect(filter.flip(2, [...positions, counted.bits().length * 8])).toBe(false);
    for (const seq of [0, 1, 3]) expect(filter.flip(seq, positions)).toBe(false);
    expect(held.slice(0, 10).every((content) => filter.mayHave(content))).toBe(true);
    expect(filter.flip(2, positions)).toBe(true);
    expect(held.slice(0, 10).some((content) => filter.mayHave(content))).toBe(false);
  });

  it('has a length of whole words within its limits', () => {
    expect([0, 120, 128, 132, 136, filterBytesMax, filterBytesMax + 8].map(isFilterLength)).toEqual([
      ...[false, false, true, false, true, true, false],
    ]);
  });
});
