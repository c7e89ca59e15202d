import { join } from 'node:path';
import type { Operation } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import type { Journal } from '../../sync/ports/journal.ts';
import {
  after,
  ant,
  bee,
  cat,
  content,
  dot,
  openAnt,
  put,
  remove,
  show,
  temporaryFolder,
} from '../fixtures.contract.ts';

function opened(): Journal {
  return openAnt(':memory:');
}

test('[FK1] the hashes of an origin differ from the first operation that differs, and are equal for equal ones', () => {
  const [one, two] = [opened(), opened()];
  one.append([put(bee, 1, 'x'), put(bee, 2, 'y'), put(bee, 3, 'z')]);
  two.append([put(bee, 1, 'x'), put(bee, 2, 'y', { content: content(9) }), put(bee, 3, 'z')]);
  const marks = (journal: Journal): readonly (string | undefined)[] =>
    [0, 1, 2, 3, 4].map((seq) => journal.log.mark(bee, seq));
  const [first, second] = [marks(one), marks(two)];
  expect(first.map((mark, seq) => mark === second[seq])).toEqual([true, true, false, false, true]);
  expect(first[4]).toBeUndefined();
  expect(Buffer.from(one.log.marks()).toString('hex')).toBe(first[3]);
});

test('[FK7] different heads under equal numbers give different digests', () => {
  const [one, two] = [opened(), opened()];
  one.append([put(bee, 1, 'x')]);
  two.append([put(bee, 1, 'x', { content: content(9) })]);
  expect(one.totals.digest()).not.toBe(two.totals.digest());
});

test('[FK3] [FK4] operations above a seal do not count, are refused, and leave the heads of the rest of the log', () => {
  const journal = opened();
  const [first, second] = [put(bee, 1, 'x'), put(bee, 2, 'x')];
  const gone = remove(bee, 3, 'y');
  journal.append([first, put(ant, 1, 'y'), second, { ...gone, version: after(gone, dot(ant, 1)) }]);
  show(journal, second);
  const rest = opened();
  rest.append([first, put(ant, 1, 'y')]);

  const cut = journal.seal(bee, 1);
  expect(cut.map(({ path, kind, content: of }) => [path, kind, of])).toEqual([
    ['x', 'put', second.content],
    ['y', 'delete', undefined],
  ]);
  expect(journal.heads.at('x')).toEqual([first]);
  expect(journal.heads.at('y')).toEqual([put(ant, 1, 'y')]);
  expect([journal.log.known(), journal.totals.digest()]).toEqual([rest.log.known(), rest.totals.digest()]);
  expect(journal.seals.all()).toEqual({ [bee]: 1 });
  expect(journal.append([second, put(bee, 3, 'z')])).toEqual([]);
  expect(journal.totals.counts().pending).toBe(2);
  // The row of the disk still finds its operation, as the parent of the next one.
  const row = journal.disk.at('x');
  expect(row && journal.log.operation(row.dot)).toMatchObject({
    content: second.content,
    version: { vector: { [bee]: 2 } },
  });
  expect(journal.verifyHeads(false).differing).toEqual([]);
});

test('[FK3] a seal is only lowered', () => {
  const journal = opened();
  journal.append([put(bee, 1, 'x'), put(bee, 2, 'y'), put(bee, 3, 'z')]);
  expect(journal.seal(bee, 2).map(({ path }) => path)).toEqual(['z']);
  expect(journal.seal(bee, 3)).toEqual([]);
  expect(journal.seal(bee, 1).map(({ path }) => path)).toEqual(['y']);
  expect([journal.seals.all(), journal.log.known()]).toEqual([{ [bee]: 1 }, { [bee]: 1 }]);
});

test('[FK5] a content that another operation replaced is not journaled again, and one that it merely covers is', () => {
  const journal = opened();
  const [x, y] = [put(bee, 1, 'x'), put(bee, 2, 'y')];
  const replacing = put(ant, 1, 'x', { replaced: x.content ?? content(0) });
  const covering = put(ant, 2, 'y', { content: content(50), replaced: content(77) });
  journal.append([x, y, { ...replacing, version: after(replacing, x) }, { ...covering, version: after(covering, y) }]);
  expect(journal.seal(bee, 0).map(({ path }) => path)).toEqual(['y']);
});

/** A symbolic link of bee's log. */
function link(seq: number, path: string, target: string): Operation {
  const { content: _, size: __, mode: ___, ...rest } = put(bee, seq, path);
  return { ...rest, kind: 'symlink', target };
}

test('[FK5] a link that an operation of another member merely covers is journaled again', () => {
  const journal = opened();
  const links = ['edited', 'deleted', 'same', 'own'].map((path, index) => link(index + 1, path, `to ${path}`));
  const [edited, deleted, same, own] = links as [Operation, Operation, Operation, Operation];
  const byCat = [
    { ...link(1, 'edited', 'elsewhere'), origin: cat, version: after(dot(cat, 1), edited) },
    { ...remove(cat, 2, 'deleted'), version: after(dot(cat, 2), deleted) },
    { ...link(3, 'same', 'to same'), origin: cat, version: after(dot(cat, 3), same) },
  ];
  journal.append([...links, ...byCat, { ...remove(ant, 1, 'own'), version: after(dot(ant, 1), own) }]);
  // Cat may have seen other links under these numbers. Ant saw these ones, because their operations are in its log.
  expect(journal.seal(bee, 0).map(({ path }) => path)).toEqual(['edited', 'deleted']);
});

test('[FK5] a link that its own branch replaced is not journaled again', () => {
  const journal = opened();
  const [first, second] = [link(1, 'x', 'one'), link(2, 'x', 'two')];
  journal.append([first, second]);
  expect(journal.seal(bee, 0).map(({ target }) => target)).toEqual(['two']);
});

describe('[FK10] an operation that names the number of another origin', () => {
  const mark = (digits: string | undefined): Uint8Array => Buffer.from(digits ?? '', 'hex');
  const naming = (digits: string | undefined): Operation =>
    put(cat, 1, 'x', { version: { vector: { [bee]: 2, [cat]: 1 } }, marks: mark(digits) });
  const named = [put(bee, 1, 'x'), put(bee, 2, 'x')];
  const contradiction = { named: dot(bee, 2), by: dot(cat, 1) };

  function markHere(): string | undefined {
    const journal = opened();
    journal.append(named);
    return journal.log.mark(bee, 2);
  }

  test.each([
    { what: 'before', order: (by: Operation) => [by, ...named] },
    { what: 'after', order: (by: Operation) => [...named, by] },
  ])('and comes $what it is a contradiction if the marks differ, and only then', ({ order }) => {
    for (const { digits, found } of [
      { digits: markHere(), found: [] },
      { digits: 'f'.repeat(16), found: [contradiction] },
      { digits: '0'.repeat(16), found: [] },
    ]) {
      const journal = opened();
      for (const operation of order(naming(digits))) journal.append([operation]);
      expect(journal.namedMarks.contradictions()).toEqual(found);
    }
  });

  test('waits for the number, also over a restart', () => {
    const path = join(temporaryFolder(), 'journal.db');
    let journal = openAnt(path);
    journal.append([naming('f'.repeat(16))]);
    expect(journal.namedMarks.contradictions()).toEqual([]);
    journal.close();
    journal = openAnt(path);
    journal.append(named);
    journal.close();
    journal = openAnt(path);
    expect(journal.namedMarks.contradictions()).toEqual([contradiction]);
    journal.close();
  });

  test('is no contradiction above the seal of that origin, or of its own', () => {
    for (const [of, last] of [
      [bee, 1],
      [cat, 0],
    ] as const) {
      const journal = opened();
      journal.append([...named, naming('f'.repeat(16))]);
      journal.seal(of, last);
      expect(journal.namedMarks.contradictions()).toEqual([]);
      if (of === cat) continue;
      journal.append([{ ...naming('f'.repeat(16)), seq: 2, version: { vector: { [bee]: 2, [cat]: 2 } } }]);
      expect(journal.namedMarks.contradictions()).toEqual([]);
    }
  });
});
