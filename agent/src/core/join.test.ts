import { type Dot, dotKey, type Operation, type OriginId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { isResurrected, originalOf, resurrectedAmong, writerOf } from './join.ts';
import { ant, bee, directory, file, gone, operation } from './plan/_fixtures.ts';

const cat = 'cat' as OriginId;
const toDot = ({ origin, seq }: Dot): Dot => ({ origin, seq });

/** The history of a path: its writes, overwrites and joins. */
const written = operation('p', file('A'), { origin: ant, seq: 1 });
const alike = operation('p', file('A', { mtimeUs: 2_000_000 }), { origin: cat, seq: 1 });
const other = operation('p', file('B'), { origin: bee, seq: 1 });
const overwritten = operation('p', file('C'), { origin: ant, seq: 2 }, [written]);
const deleted = operation('p', gone, { origin: ant, seq: 2 }, [written]);
const join = keeping(operation('p', file('A'), { origin: bee, seq: 2 }, [written, other]), [written]);
const joinOfAll = keeping(operation('p', file('A'), { origin: bee, seq: 2 }, [written, alike, other]), [
  written,
  alike,
]);
const again = keeping(operation('p', file('A'), { origin: cat, seq: 2 }, [join]), [join]);
const changed = keeping(
  operation('p', { ...file('A', { mode: 0o600 }), kind: 'attr' }, { origin: cat, seq: 2 }, [join]),
  [join],
);
const joinOfOther = keeping(operation('p', file('B'), { origin: cat, seq: 2 }, [written, other]), [other]);
const forged = keeping(operation('p', file('A'), { origin: cat, seq: 5 }), [{ origin: cat, seq: 6 }]);
const forgedToo = keeping(operation('p', file('A'), { origin: cat, seq: 6 }), [forged]);
const all = [written, alike, other, overwritten, join, again, changed, joinOfOther, forged, forgedToo];

function keeping(made: Operation, kept: readonly Dot[]): Operation {
  return { ...made, keeps: kept.map(toDot) };
}

function find(dot: Dot): Operation | undefined {
  return all.find((made) => dotKey(made) === dotKey(dot));
}

describe('[CF11] the original of', () => {
  test.each([
    { what: "a user's operation", of: written, original: written },
    { what: 'a join', of: join, original: written },
    { what: 'a join of a join', of: again, original: written },
    { what: 'a change of the mode of a join', of: changed, original: changed },
    {
      what: 'a join of an operation that is not known here',
      of: keeping(join, [{ origin: bee, seq: 9 }]),
      original: undefined,
    },
  ])('$what', ({ of, original }) => {
    expect(originalOf(of, find)).toBe(original ?? of);
  });

  test('a search through forged operations that keep each other ends', () => {
    expect([forged, forgedToo]).toContain(originalOf(forged, find));
    expect(isResurrected(forged, [deleted], find)).toBe(false);
  });
});

test('the writer of content is also found behind a change of its mode', () => {
  expect(writerOf(changed, find)).toBe(written);
  expect(writerOf(written, find)).toBe(written);
});

describe('[MG10] resurrected', () => {
  test.each([
    { what: 'a join of a deleted entry', entry: join, siblings: [deleted], is: true },
    { what: 'a join of an overwritten entry', entry: join, siblings: [overwritten], is: true },
    { what: 'a join of such a join', entry: again, siblings: [deleted], is: true },
    { what: 'an entry that another join made a conflict copy', entry: join, siblings: [joinOfOther], is: true },
    { what: "not a user's operation", entry: written, siblings: [deleted], is: false },
    {
      what: 'not a change of mode by a user who had not seen the delete',
      entry: changed,
      siblings: [deleted],
      is: false,
    },
    { what: 'not a join of an equal file that stays', entry: joinOfAll, siblings: [deleted], is: false },
    { what: 'not a join of an entry that no sibling supersedes', entry: join, siblings: [other], is: false },
    {
      what: 'not a join of an operation that is not known here',
      entry: keeping(join, [{ origin: bee, seq: 9 }]),
      siblings: [deleted],
      is: false,
    },
  ])('$what', ({ entry, siblings, is }) => {
    expect(isResurrected(entry, siblings, find)).toBe(is);
  });

  test('among heads: superseded by other content, and never all of them', () => {
    expect(resurrectedAmong([overwritten, join], find)).toEqual([join]);
    expect(resurrectedAmong([join, again], find)).toEqual([]);
    const each = keeping(operation('p', file('B'), { origin: cat, seq: 3 }, [written, other]), [other]);
    expect(resurrectedAmong([join, each], find)).toEqual([]);
    const here = operation('p', directory(), { origin: cat, seq: 3 }, [written]);
    expect(resurrectedAmong([here, join], find)).toEqual([]);
  });
});
