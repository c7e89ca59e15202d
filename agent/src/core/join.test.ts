import { type Dot, dotKey, type Operation, type OriginId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { isResurrected, type JoinLog, originalOf, resurrectedAmong, writerOf } from './join.ts';
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

const log: JoinLog = { log: { operation: find }, seals: { all: () => ({}) } };

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
    expect(isResurrected(forged, [deleted], log)).toBe(false);
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
    expect(isResurrected(entry, siblings, log)).toBe(is);
  });

  test('among heads: superseded by other content, and never all of them', () => {
    expect(resurrectedAmong([overwritten, join], log)).toEqual([join]);
    expect(resurrectedAmong([join, again], log)).toEqual([]);
    const each = keeping(operation('p', file('B'), { origin: cat, seq: 3 }, [written, other]), [other]);
    expect(resurrectedAmong([join, each], log)).toEqual([]);
    const here = operation('p', directory(), { origin: cat, seq: 3 }, [written]);
    expect(resurrectedAmong([here, join], log)).toEqual([]);
  });
});

describe('[FK9] a number that two branches of a log have used', () => {
  const before = operation('p', file('A'), { origin: ant, seq: 1 });
  const joinHere = keeping(operation('p', file('A'), { origin: bee, seq: 1 }, [before]), [before]);
  const covering = operation('p', file('B'), { origin: cat, seq: 1 }, [
    { ...before, seq: 9, version: { vector: { [ant]: 9 } } },
  ]);
  const elsewhere = operation('q', file('A'), { origin: ant, seq: 1 });
  const otherwise = operation('p', file('C'), { origin: ant, seq: 1 });
  const otherJoin = keeping(operation('p', file('C'), { origin: ant, seq: 1 }), [{ origin: cat, seq: 1 }]);

  test.each([
    { what: 'an unsealed one is superseded', here: before, seals: {}, is: true },
    { what: 'one within the seal is superseded', here: before, seals: { [ant]: 1 }, is: true },
    { what: 'one above the seal is superseded by none', here: undefined, seals: { [ant]: 0 }, is: false },
    { what: 'another entry here is not the kept one', here: otherwise, seals: {}, is: false },
    { what: 'an entry at another path is not the kept one', here: elsewhere, seals: {}, is: false },
    { what: 'another join here is not the kept one', here: otherJoin, seals: {}, is: false },
  ])('$what', ({ here, seals, is }) => {
    const log = { log: { operation: () => here }, seals: { all: () => seals } };
    expect(isResurrected(joinHere, [covering], log)).toBe(is);
    expect(resurrectedAmong([joinHere, covering], log)).toEqual(is ? [joinHere] : []);
    expect(originalOf(joinHere, () => here)).toBe(here === before ? before : joinHere);
  });

  test.each([
    { what: 'an earlier one', stamp: covering.hlc - 1, is: true },
    { what: 'one of the same stamp', stamp: covering.hlc, is: true },
    { what: 'none that was stamped later', stamp: covering.hlc + 1, is: false },
  ])('its operation may have superseded $what', ({ stamp, is }) => {
    const log = { log: { operation: () => ({ ...before, hlc: stamp }) }, seals: { all: () => ({}) } };
    expect(isResurrected(joinHere, [covering], log)).toBe(is);
  });
});
