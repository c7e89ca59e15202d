import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAtOrBefore } from './path-order.ts';

test('paths are ordered as their bytes', () => {
  const path = fc.string({
    unit: fc.constantFrom('a', 'b', '/', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'),
  });
  fc.assert(
    fc.property(path, path, (a, b) => {
      expect(isAtOrBefore(a, b)).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)) <= 0);
    }),
  );
});
