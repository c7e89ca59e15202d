import { describe, expect, test } from 'vitest';
import { areEnoughHolders } from './enough-holders.ts';

const full = (hasIt: boolean) => ({ isOnDemand: false, hasIt, hadIt: false });
const onDemand = (hasIt: boolean) => ({ isOnDemand: true, hasIt, hadIt: false });
const away = (isOnDemand: boolean) => ({ isOnDemand, hasIt: false, hadIt: true });

describe('[OD10] enough members have a content', () => {
  test.each([
    { name: 'no other member', others: [], written: false, read: false },
    { name: 'all with the whole folder', others: [full(true), full(true)], written: true, read: true },
    { name: 'one of two with the whole folder', others: [full(true), full(false)], written: false, read: true },
    {
      name: 'only one on demand, though one has all',
      others: [full(false), onDemand(true)],
      written: false,
      read: false,
    },
    { name: 'one on demand, where none has all', others: [onDemand(true), onDemand(false)], written: true, read: true },
    { name: 'none', others: [onDemand(false), onDemand(false)], written: false, read: false },
  ])('$name', ({ others, written, read }) => {
    expect(areEnoughHolders(others, { isOwn: true, copies: 'all' })).toBe(written);
    expect(areEnoughHolders(others, { isOwn: false, copies: 'all' })).toBe(read);
  });
});

test('[CP5] as many others must have a content as copies are wanted, of whatever kind they are', () => {
  const others = [full(true), full(false), onDemand(true), onDemand(false)];
  for (const isOwn of [true, false]) {
    expect([1, 2, 3].map((copies) => areEnoughHolders(others, { isOwn, copies }))).toEqual([true, true, false]);
  }
});

describe('[CP5] members that are away and had the content', () => {
  const others = [full(true), away(true), away(false)];

  test('count for what was only read here, if one has it now', () => {
    expect([1, 2, 3, 4].map((copies) => areEnoughHolders(others, { isOwn: false, copies }))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(areEnoughHolders([full(false), away(true), away(false)], { isOwn: false, copies: 1 })).toBe(false);
  });

  test('do not count for what was written here, nor where all members are to have it', () => {
    expect([1, 2].map((copies) => areEnoughHolders(others, { isOwn: true, copies }))).toEqual([true, false]);
    expect(areEnoughHolders([away(false), onDemand(true)], { isOwn: false, copies: 'all' })).toBe(false);
  });
});
