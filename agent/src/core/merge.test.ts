import type { ContentId, Operation, OperationKind, OriginId, Version } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { inOrder, losers, mergeHead } from './merge.ts';
import { nextVersion } from './version.ts';

const [ant, bee, cat] = ['ant', 'bee', 'cat'] as [OriginId, OriginId, OriginId];

/** An operation in a history, in short form: its author, parents and content. */
interface Entry {
  readonly by: OriginId;
  readonly seq: number;
  readonly hlc?: number;
  readonly kind?: OperationKind;
  readonly content?: string;
  readonly replaced?: string;
  readonly target?: string;
  readonly after?: readonly Operation[];
  readonly beside?: readonly Operation[];
  readonly version?: Version;
}

function make(entry: Entry): Operation {
  const { by: origin, seq, after = [], beside = [], kind = 'put' } = entry;
  const isFile = kind === 'put' || (kind === 'attr' && entry.content !== undefined);
  return {
    origin,
    seq,
    hlc: entry.hlc ?? seq,
    kind,
    path: 'p',
    version: entry.version ?? nextVersion({ origin, seq }, after, [...after, ...beside]),
    ...(isFile ? { content: (entry.content ?? `${origin}${seq}`) as ContentId } : {}),
    ...(entry.replaced === undefined ? {} : { replaced: entry.replaced as ContentId }),
    ...(entry.target === undefined ? {} : { target: entry.target }),
  };
}

/** Every order of the operations. */
function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}

function mergeAll(operations: readonly Operation[]): readonly Operation[] {
  return operations.reduce<readonly Operation[]>(mergeHead, []);
}

const base = make({ by: ant, seq: 1, content: 'base' });

describe('heads of a path, in every order of arrival', () => {
  const antEdit = make({ by: ant, seq: 2, hlc: 20, content: 'x', replaced: 'base', after: [base] });
  const beeEdit = make({ by: bee, seq: 1, hlc: 21, content: 'y', replaced: 'base', after: [base] });
  const catEdit = make({ by: cat, seq: 1, hlc: 22, content: 'z', replaced: 'base', after: [base] });
  const antDelete = make({ by: ant, seq: 2, hlc: 90, kind: 'delete', replaced: 'base', after: [base] });
  const beeDelete = make({ by: bee, seq: 1, hlc: 91, kind: 'delete', replaced: 'base', after: [base] });
  const beeDirectory = make({ by: bee, seq: 1, hlc: 2, kind: 'mkdir' });
  const antLink = make({ by: ant, seq: 2, hlc: 30, kind: 'symlink', target: 't', after: [base] });
  const join = make({ by: ant, seq: 3, hlc: 40, content: 'y', after: [antEdit, beeEdit] });
  const otherJoin = make({ by: bee, seq: 2, hlc: 41, content: 'y', after: [antEdit, beeEdit] });
  const joinOfJoins = make({ by: cat, seq: 1, hlc: 42, content: 'y', after: [join, otherJoin] });
  const joinOfTwo = make({ by: ant, seq: 3, hlc: 40, content: 'y', after: [antEdit, beeEdit] });
  const joinOfOtherTwo = make({ by: bee, seq: 2, hlc: 41, content: 'z', after: [beeEdit, catEdit] });
  const onSibling = make({ by: bee, seq: 2, hlc: 50, content: 'w', after: [antEdit], beside: [beeEdit] });
  const onOwnSibling = make({ by: ant, seq: 3, hlc: 50, content: 'w', after: [beeEdit], beside: [antEdit] });
  const againOnOwn = make({ by: ant, seq: 4, hlc: 51, content: 'v', after: [onOwnSibling], beside: [antEdit] });
  const joinAfterOwn = make({ by: bee, seq: 2, hlc: 60, content: 'v', after: [againOnOwn, antEdit] });
  const incomplete = make({
    by: cat,
    seq: 1,
    hlc: 5,
    content: 'z',
    version: { vector: { [ant]: 9, [cat]: 1 } as never },
  });

  const cases: readonly { name: string; operations: readonly Operation[]; heads: readonly Operation[] }[] = [
    { name: '[MG1] one operation', operations: [base], heads: [base] },
    { name: '[MG1] an edit of it', operations: [base, antEdit], heads: [antEdit] },
    { name: '[MG1] edit and edit', operations: [base, antEdit, beeEdit], heads: [beeEdit, antEdit] },
    { name: '[MG1] three edits', operations: [base, antEdit, beeEdit, catEdit], heads: [catEdit, beeEdit, antEdit] },
    {
      name: '[MG4] edit and delete: the edit is visible, though earlier',
      operations: [base, antDelete, beeEdit],
      heads: [beeEdit, antDelete],
    },
    { name: '[MG4] delete and delete', operations: [base, antDelete, beeDelete], heads: [beeDelete, antDelete] },
    {
      name: '[MG4] directory and file: the directory is visible, though earlier',
      operations: [base, antEdit, beeDirectory],
      heads: [beeDirectory, antEdit],
    },
    {
      name: '[MG4] link and file: the later is visible',
      operations: [base, antLink, beeEdit],
      heads: [antLink, beeEdit],
    },
    { name: '[MG7] a join of siblings', operations: [base, antEdit, beeEdit, join], heads: [join] },
    {
      name: '[MG7] two resolvers joined the same siblings',
      operations: [base, antEdit, beeEdit, join, otherJoin],
      heads: [otherJoin, join],
    },
    {
      name: '[MG7] a join of joins',
      operations: [antEdit, beeEdit, join, otherJoin, joinOfJoins],
      heads: [joinOfJoins],
    },
    {
      name: '[MG7] joins of overlapping siblings',
      operations: [antEdit, beeEdit, catEdit, joinOfTwo, joinOfOtherTwo],
      heads: [joinOfOtherTwo, joinOfTwo],
    },
    {
      name: '[MG7] a sibling that the resolver did not know remains',
      operations: [base, antEdit, beeEdit, catEdit, join],
      heads: [join, catEdit],
    },
    {
      name: '[MG6] an edit while siblings stand supersedes the one on the disk',
      operations: [base, antEdit, beeEdit, onSibling],
      heads: [onSibling, beeEdit],
    },
    {
      name: '[MG6] such an edit leaves the editor’s own older sibling',
      operations: [base, antEdit, beeEdit, onOwnSibling],
      heads: [onOwnSibling, antEdit],
    },
    {
      name: '[MG6] it also does so after one more edit',
      operations: [antEdit, beeEdit, onOwnSibling, againOnOwn],
      heads: [againOnOwn, antEdit],
    },
    {
      name: '[MG7] a join ends that',
      operations: [antEdit, beeEdit, onOwnSibling, againOnOwn, joinAfterOwn],
      heads: [joinAfterOwn],
    },
    {
      name: '[MG2] a superseded operation need not have arrived',
      operations: [incomplete, base],
      heads: [incomplete],
    },
  ];
  test.each(cases)('$name', ({ operations, heads }) => {
    for (const order of permutations(operations)) {
      expect(mergeAll(order)).toEqual(heads);
      expect(mergeAll([...order, ...order])).toEqual(heads);
    }
  });

  test('[MG3] an operation that changes nothing returns the same array of heads', () => {
    const heads = mergeAll([base, antEdit, beeEdit]);
    for (const operation of [base, antEdit, beeEdit]) expect(mergeHead(heads, operation)).toBe(heads);
  });
});

describe('[MG4] ties', () => {
  const cases = [
    {
      name: 'equal stamps: the later origin',
      heads: [make({ by: bee, seq: 1, hlc: 5 }), make({ by: ant, seq: 9, hlc: 5 })],
    },
    {
      name: 'equal stamps and origin: the later number',
      heads: [make({ by: ant, seq: 2, hlc: 5 }), make({ by: ant, seq: 1, hlc: 5 })],
    },
    {
      name: 'directories: the later stamp',
      heads: [make({ by: ant, seq: 1, hlc: 6, kind: 'mkdir' }), make({ by: bee, seq: 1, hlc: 5, kind: 'mkdir' })],
    },
    {
      name: 'a changed directory is a directory',
      heads: [make({ by: ant, seq: 1, hlc: 1, kind: 'attr' }), make({ by: bee, seq: 1, hlc: 5 })],
    },
  ];
  test.each(cases)('$name', ({ heads }) => {
    expect(inOrder(heads)).toEqual(heads);
    expect(inOrder(heads.toReversed())).toEqual(heads);
  });
});

describe('losers', () => {
  const fileX = make({ by: ant, seq: 1, hlc: 10, content: 'x' });
  const fileY = make({ by: bee, seq: 1, hlc: 11, content: 'y' });
  const fileXLater = make({ by: cat, seq: 1, hlc: 12, content: 'x' });
  const changedX = make({ by: cat, seq: 1, hlc: 12, kind: 'attr', content: 'x' });
  const directory = make({ by: bee, seq: 1, hlc: 1, kind: 'mkdir' });
  const otherDirectory = make({ by: ant, seq: 1, hlc: 2, kind: 'mkdir' });
  const gone = make({ by: cat, seq: 1, hlc: 99, kind: 'delete' });
  const linkT = make({ by: ant, seq: 1, hlc: 10, kind: 'symlink', target: 't' });
  const linkTToo = make({ by: bee, seq: 1, hlc: 11, kind: 'symlink', target: 't' });
  const linkU = make({ by: bee, seq: 1, hlc: 11, kind: 'symlink', target: 'u' });
  const overX = make({ by: bee, seq: 1, hlc: 11, content: 'y', replaced: 'x' });
  const overXEarlier = make({ by: bee, seq: 1, hlc: 9, content: 'y', replaced: 'x' });
  const goneAhead = make({ by: ant, seq: 7, hlc: 99, kind: 'delete', replaced: 'x' });
  const backX = make({ by: ant, seq: 8, hlc: 11, content: 'x' });
  const overXSame = make({ by: bee, seq: 1, hlc: 10, content: 'y', replaced: 'x' });
  const overY = make({ by: cat, seq: 1, hlc: 12, content: 'z', replaced: 'y' });
  const goneX = make({ by: cat, seq: 1, hlc: 99, kind: 'delete', replaced: 'x' });

  const cases: readonly {
    name: string;
    heads: readonly Operation[];
    lost: readonly Operation[];
    heldUp?: readonly Operation[];
  }[] = [
    { name: '[CF1] nothing there', heads: [], lost: [] },
    { name: '[CF1] one head', heads: [fileX], lost: [], heldUp: [fileX] },
    { name: '[CF1] edit and edit', heads: [fileX, fileY], lost: [fileX], heldUp: [fileY, fileX] },
    { name: '[CF2] the same content on both', heads: [fileX, fileXLater], lost: [], heldUp: [fileXLater] },
    {
      name: '[CF2] the same content, one with other permissions',
      heads: [fileX, changedX],
      lost: [],
      heldUp: [changedX],
    },
    {
      name: '[CF2] two losers with the same content are one',
      heads: [fileX, fileXLater, make({ by: ant, seq: 5, hlc: 50, content: 'w' })],
      lost: [fileXLater],
    },
    { name: '[CF1] edit and delete', heads: [fileX, gone], lost: [], heldUp: [fileX] },
    { name: '[CF1] delete and delete', heads: [gone, make({ by: ant, seq: 3, kind: 'delete' })], lost: [], heldUp: [] },
    { name: '[CF1] directory and file', heads: [directory, fileX], lost: [fileX], heldUp: [fileX] },
    { name: '[CF1] directory and directory', heads: [directory, otherDirectory], lost: [], heldUp: [] },
    { name: '[CF1] directory, file and delete', heads: [directory, fileX, gone], lost: [fileX], heldUp: [fileX] },
    { name: '[CF2] links with the same text', heads: [linkT, linkTToo], lost: [], heldUp: [linkTToo] },
    { name: '[CF1] links with different texts', heads: [linkT, linkU], lost: [linkT], heldUp: [linkU, linkT] },
    { name: '[CF1] link and file', heads: [linkT, fileY], lost: [linkT], heldUp: [fileY, linkT] },
    { name: '[CF3] a later sibling replaced the content', heads: [fileX, overX], lost: [], heldUp: [overX] },
    { name: '[CF3] an earlier one that says so does not count', heads: [fileX, overXEarlier], lost: [overXEarlier] },
    { name: '[CF3] nor one with the same stamp', heads: [fileX, overXSame], lost: [fileX] },
    { name: '[CF3] a chain of replacements', heads: [fileX, overX, overY], lost: [], heldUp: [overY] },
    {
      name: '[CF3] a later delete of the content, where something else is visible',
      heads: [fileX, fileY, goneX],
      lost: [],
    },
    {
      name: '[CF3] a delete that its author made before the content was put back, with a stamp far ahead',
      heads: [make({ by: bee, seq: 9, hlc: 50, content: 'y' }), goneAhead, backX],
      lost: [backX],
    },
    { name: '[CF1] a later delete of the content, held up', heads: [fileX, goneX], lost: [], heldUp: [] },
  ];
  test.each(cases)('$name', ({ heads, lost, heldUp }) => {
    for (const order of permutations(heads)) {
      expect(losers(order, false)).toEqual(lost);
      if (heldUp !== undefined) expect(losers(order, true)).toEqual(heldUp);
    }
  });
});
