import type { Operation } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { rowOf, seen } from './_observations.ts';
import type { Fingerprint } from './entry.ts';
import { ant, directory, file, fingerprint, gone, link, operation, type Shape } from './plan/_fixtures.ts';
import { judgeAfterPowerCut, type Left, type Verdict } from './power-cut.ts';

const at = { origin: ant, seq: 2 };
const before = operation('p', file('O', { mtimeUs: 500_000 }), { origin: ant, seq: 1 });

/** The entry left of `shape`, with a fingerprint that differs in `changes`. */
function left(shape: Shape | undefined, changes: Partial<Fingerprint> = {}, endsInZeros = false): Left {
  const found = seen(shape, 1);
  if (found.state === 'absent') return found;
  const there = { ...found, fingerprint: { ...found.fingerprint, ...changes } };
  return there.state === 'file' ? { ...there, endsInZeros } : there;
}

function words(verdict: Verdict): string {
  switch (verdict.is) {
    case 'undone':
      return `undone to ${verdict.shown.seq}${verdict.isWhole ? '' : ', bytes right'}`;
    case 'damaged':
      return `damaged${verdict.isSomebodys ? ', kept' : ''}${verdict.content ? ', bytes right' : ''}`;
    default:
      return verdict.is;
  }
}

function judge(
  shown: Operation,
  now: Left,
  shape: Shape | undefined,
  { isKnown = false, isTouched = false }: { readonly isKnown?: boolean; readonly isTouched?: boolean } = {},
): string {
  const row = rowOf(shown, shape);
  return words(judgeAfterPowerCut({ row, shown, left: now, earlier: [shown, before], isKnown, isTouched }));
}

describe('[PC2] a file whose last write was not durable', () => {
  const shape = file('A');
  const shown = operation('p', shape, at, [before]);
  // Rows of these fixtures have size 1 and are of 1,000 ms.
  test.each<{ name: string; now: Left; expected: string; isKnown?: boolean; isTouched?: boolean }>([
    { name: 'it is whole', now: left(shape), expected: 'whole' },
    { name: 'it is missing', now: left(undefined), expected: 'gone' },
    { name: 'it is empty', now: left(file('E'), { size: 0 }), expected: 'damaged' },
    { name: 'it is empty and newer', now: left(file('E'), { size: 0, mtimeMs: 9_000 }), expected: 'damaged' },
    { name: 'it ends in zeros', now: left(file('Z'), { mtimeMs: 9_000 }, true), expected: 'damaged' },
    { name: 'it has other bytes of the same time', now: left(file('X')), expected: 'damaged, kept' },
    { name: 'it has older bytes', now: left(file('X'), { mtimeMs: 1 }), expected: 'damaged, kept' },
    { name: 'it has bytes of an operation at the path', now: left(file('X')), isKnown: true, expected: 'damaged' },
    { name: 'it has the version before', now: left(file('O', { mtimeUs: 500_000 })), expected: 'undone to 1' },
    { name: 'it has the version before, of another time', now: left(file('O')), expected: 'undone to 1, bytes right' },
    {
      name: 'the version before was written once more since',
      now: left(file('O'), { mtimeMs: 9_000 }),
      expected: 'edited',
    },
    {
      name: 'the version before was moved away and back since',
      now: left(file('O', { mtimeUs: 500_000 })),
      isTouched: true,
      expected: 'edited',
    },
    {
      name: 'it is empty and was touched since',
      now: left(file('E'), { size: 0 }),
      isTouched: true,
      expected: 'damaged',
    },
    { name: 'it is whole and was touched since', now: left(shape), isTouched: true, expected: 'whole' },
    { name: 'it was written since', now: left(file('X'), { mtimeMs: 9_000 }), expected: 'edited' },
    {
      name: 'its mode was changed and that is lost',
      now: left(file('A', { mode: 0o600 }), { ctimeMs: 0 }),
      expected: 'damaged, bytes right',
    },
    {
      name: 'its mode was changed since',
      now: left(file('A', { mode: 0o600 }), { ctimeMs: 99 }),
      expected: 'edited',
    },
    { name: 'an older link is there', now: left(link('t', { mtimeUs: 1 })), expected: 'damaged, kept' },
    { name: 'a directory is there', now: left(directory()), expected: 'edited' },
  ])('$name: $expected', ({ now, expected, ...known }) => {
    expect(judge(shown, now, shape, known)).toBe(expected);
  });

  test('it is shorter, and newer', () => {
    const row = rowOf(shown, shape);
    const long = { ...row, fingerprint: { ...fingerprint(shape, 1), size: 9 } };
    const now = left(file('X'), { size: 8, mtimeMs: 9_000 });
    for (const isKnown of [false, true]) {
      const verdict = judgeAfterPowerCut({ row: long, shown, left: now, earlier: [], isKnown });
      expect(words(verdict)).toBe('damaged, kept');
    }
  });
});

describe('[PC2] a delete that was not durable', () => {
  const shown = operation('p', gone, { origin: ant, seq: 2_000 * 1_024 }, [before]);
  test.each<{ name: string; now: Left; expected: string }>([
    { name: 'it is gone', now: left(undefined), expected: 'whole' },
    { name: 'the file is back', now: left(file('O', { mtimeUs: 500_000 })), expected: 'undone to 1' },
    { name: 'an empty file is there', now: left(file('E'), { size: 0 }), expected: 'damaged' },
    { name: 'other bytes, older than the delete', now: left(file('X')), expected: 'damaged, kept' },
    { name: 'a file was made since', now: left(file('X'), { mtimeMs: 3_000 }), expected: 'edited' },
  ])('$name: $expected', ({ now, expected }) => {
    expect(judge(shown, now, undefined)).toBe(expected);
  });
});

test('[PC2] a link that is the one before', () => {
  const old = operation('p', link('o'), { origin: ant, seq: 1 });
  const shown = operation('p', link('t'), at, [old]);
  const verdict = judgeAfterPowerCut({
    row: rowOf(shown, link('t')),
    shown,
    left: left(link('o')),
    earlier: [shown, old],
    isKnown: false,
  });
  expect(words(verdict)).toBe('undone to 1');
});
