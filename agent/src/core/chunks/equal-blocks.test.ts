import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blockHashBytes } from '../blocks.ts';
import { equalBlocks } from './equal-blocks.ts';

const hash = (value: number): Uint8Array => new Uint8Array(blockHashBytes).fill(value);
const join = (values: readonly number[]): Uint8Array => new Uint8Array(values.flatMap((value) => [...hash(value)]));
const zeros = hash(0);

const find = (wanted: readonly number[], ...others: readonly (readonly number[])[]) => [
  ...equalBlocks(join(wanted), others.map(join), zeros),
];

test('[CT17] a block at the same place is preferred, in the first content that has it', () => {
  expect(find([1, 2, 3], [1, 9, 3, 2], [1, 2])).toEqual([
    [0, { other: 0, index: 0 }],
    [1, { other: 1, index: 1 }],
    [2, { other: 0, index: 2 }],
  ]);
});

test('[CT17] a block that moved is found anywhere', () => {
  expect(find([5, 1, 2], [1, 2], [7, 5])).toEqual([
    [0, { other: 1, index: 1 }],
    [1, { other: 0, index: 0 }],
    [2, { other: 0, index: 1 }],
  ]);
  expect(find([1, 2], [3, 4])).toEqual([]);
  expect(find([1, 2])).toEqual([]);
});

test('[CT18] a block of zeros is needed from nowhere, unless it is the last', () => {
  expect(find([0, 1, 0], [0])).toEqual([
    [0, 'zeros'],
    [2, { other: 0, index: 0 }],
  ]);
  expect(find([0, 0])).toEqual([[0, 'zeros']]);
});

test('[CT17] each block is where it is said to be, and none that is there is left out', () => {
  const contents = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(contents, fc.array(contents, { maxLength: 3 }), (wanted, others) => {
      const found = equalBlocks(join(wanted), others.map(join), zeros);
      for (const [index, value] of wanted.entries()) {
        const place = found.get(index);
        if (place === 'zeros') expect(value).toBe(0);
        else if (place === undefined) expect(others.some((other) => other.includes(value))).toBe(false);
        else expect(others[place.other]?.[place.index]).toBe(value);
      }
    }),
  );
});
