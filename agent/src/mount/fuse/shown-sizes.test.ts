import { expect, test } from 'vitest';
import { ShownSizes } from './shown-sizes.ts';

test('[FM11] a size counts for as long as the kernel may believe it', () => {
  let nowMs = 10_000;
  const sizes = new ShownSizes(() => nowMs);
  expect(sizes.isOther('a', 2)).toBe(false);
  sizes.show('a', 1);
  expect(sizes.isOther('a', 2)).toBe(true);
  expect(sizes.isOther('a', 1)).toBe(false);
  nowMs += 3_000;
  expect(sizes.isOther('a', 2)).toBe(true);
  nowMs += 3_000;
  expect(sizes.isOther('a', 2)).toBe(false);
});

test('[FM11] a size that was told before long ago does not count', () => {
  let nowMs = 10_000;
  const sizes = new ShownSizes(() => nowMs);
  sizes.show('a', 1);
  nowMs += 60_000;
  expect(sizes.isOther('a', 2)).toBe(false);
});

test('[FM11] a size that the kernel changed itself does not count', () => {
  const sizes = new ShownSizes();
  sizes.show('a', 1);
  sizes.forget('a');
  expect(sizes.isOther('a', 2)).toBe(false);
});
