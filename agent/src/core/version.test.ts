import type { Dot, Operation, OriginId, Version, VersionVector } from '@lockstep/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compareVectors,
  countBeyond,
  covers,
  joinVersions,
  nextVersion,
  ownNumbersNeeded,
  supersedes,
} from './version.ts';

const ant = 'ant' as OriginId;
const bee = 'bee' as OriginId;
const cat = 'cat' as OriginId;

function dot(origin: OriginId, seq: number): Dot {
  return { origin, seq };
}

function vector(numbers: Record<string, number>): VersionVector {
  return numbers as VersionVector;
}

function put(origin: OriginId, seq: number, version: Version): Operation {
  return { origin, seq, hlc: seq, kind: 'put', path: 'p', version };
}

describe('[JN8] the operations that a version includes', () => {
  const version: Version = { vector: vector({ ant: 5 }), except: [dot(ant, 3)] };
  const cases = [
    { name: 'below the vector', of: dot(ant, 4), covered: true },
    { name: 'at the vector', of: dot(ant, 5), covered: true },
    { name: 'above the vector', of: dot(ant, 6), covered: false },
    { name: 'an exception', of: dot(ant, 3), covered: false },
    { name: 'another origin', of: dot(bee, 1), covered: false },
    { name: 'another origin with the number of an exception', of: dot(bee, 3), covered: false },
  ];
  test.each(cases)('$name: $covered', ({ of, covered }) => {
    expect(covers(version, of)).toBe(covered);
  });

  test('[MG2] an operation does not supersede itself', () => {
    const operation = put(ant, 5, { vector: vector({ ant: 5 }) });
    expect(covers(operation.version, operation)).toBe(true);
    expect(supersedes(operation, operation)).toBe(false);
  });
});

describe('[JN9] the join of versions', () => {
  const cases: readonly { name: string; versions: readonly Version[]; join: Version }[] = [
    { name: 'of nothing', versions: [], join: { vector: {} } },
    {
      name: 'of one is that one, exceptions included',
      versions: [{ vector: vector({ ant: 3 }), except: [dot(ant, 1)] }],
      join: { vector: vector({ ant: 3 }), except: [dot(ant, 1)] },
    },
    {
      name: 'of different origins',
      versions: [{ vector: vector({ ant: 1 }) }, { vector: vector({ bee: 2 }) }],
      join: { vector: vector({ ant: 1, bee: 2 }) },
    },
    {
      name: 'takes the larger number',
      versions: [{ vector: vector({ ant: 1, bee: 9 }) }, { vector: vector({ ant: 4, bee: 2 }) }],
      join: { vector: vector({ ant: 4, bee: 9 }) },
    },
    {
      name: 'an exception that the other includes is none',
      versions: [{ vector: vector({ ant: 3 }), except: [dot(ant, 1)] }, { vector: vector({ ant: 1 }) }],
      join: { vector: vector({ ant: 3 }) },
    },
    {
      name: 'an exception above the number of the other stays',
      versions: [{ vector: vector({ ant: 3 }), except: [dot(ant, 2)] }, { vector: vector({ ant: 1 }) }],
      join: { vector: vector({ ant: 3 }), except: [dot(ant, 2)] },
    },
    {
      name: 'an exception of both stays, once',
      versions: [
        { vector: vector({ ant: 3 }), except: [dot(ant, 1)] },
        { vector: vector({ ant: 4 }), except: [dot(ant, 1)] },
      ],
      join: { vector: vector({ ant: 4 }), except: [dot(ant, 1)] },
    },
    {
      name: 'exceptions of each that the other includes are none',
      versions: [
        { vector: vector({ ant: 3 }), except: [dot(ant, 1)] },
        { vector: vector({ ant: 4 }), except: [dot(ant, 2)] },
      ],
      join: { vector: vector({ ant: 4 }) },
    },
  ];
  test.each(cases)('$name', ({ versions, join }) => {
    expect(joinVersions(versions)).toEqual(join);
    expect(joinVersions(versions.toReversed())).toEqual(join);
  });

  const origins = [ant, bee, cat];
  const anyVersion: fc.Arbitrary<Version> = fc
    .record({
      numbers: fc.tuple(fc.nat(6), fc.nat(6), fc.nat(6)),
      except: fc.array(fc.record({ origin: fc.constantFrom(...origins), seq: fc.integer({ min: 1, max: 6 }) }), {
        maxLength: 5,
      }),
    })
    .map(({ numbers, except }) => ({ vector: vector({ ant: numbers[0], bee: numbers[1], cat: numbers[2] }), except }));

  test('it is the union of what they include, for any versions', () => {
    fc.assert(
      fc.property(fc.array(anyVersion, { maxLength: 4 }), (versions) => {
        const join = joinVersions(versions);
        for (const origin of origins) {
          for (let seq = 1; seq <= 7; seq++) {
            const one = dot(origin, seq);
            expect(covers(join, one)).toBe(versions.some((version) => covers(version, one)));
          }
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('[LC3] the version of a new operation', () => {
  const cases: readonly {
    name: string;
    of: Dot;
    parents: readonly Operation[];
    others: readonly Operation[];
    version: Version;
  }[] = [
    { name: 'of a new file', of: dot(ant, 7), parents: [], others: [], version: { vector: vector({ ant: 7 }) } },
    {
      name: 'of an edit of an operation that all have',
      of: dot(ant, 7),
      parents: [put(bee, 2, { vector: vector({ bee: 2 }) })],
      others: [put(bee, 2, { vector: vector({ bee: 2 }) })],
      version: { vector: vector({ ant: 7, bee: 2 }) },
    },
    {
      name: 'a sibling of another origin is not included',
      of: dot(ant, 7),
      parents: [put(ant, 1, { vector: vector({ ant: 1 }) })],
      others: [put(ant, 1, { vector: vector({ ant: 1 }) }), put(bee, 2, { vector: vector({ bee: 2 }) })],
      version: { vector: vector({ ant: 7 }) },
    },
    {
      name: 'an older sibling of the same origin becomes an exception',
      of: dot(ant, 7),
      parents: [put(bee, 2, { vector: vector({ bee: 2 }) })],
      others: [put(bee, 2, { vector: vector({ bee: 2 }) }), put(ant, 1, { vector: vector({ ant: 1 }) })],
      version: { vector: vector({ ant: 7, bee: 2 }), except: [dot(ant, 1)] },
    },
    {
      name: 'an exception of the parent is kept, and not written twice',
      of: dot(ant, 9),
      parents: [put(ant, 7, { vector: vector({ ant: 7, bee: 2 }), except: [dot(ant, 1)] })],
      others: [
        put(ant, 7, { vector: vector({ ant: 7, bee: 2 }), except: [dot(ant, 1)] }),
        put(ant, 1, { vector: vector({ ant: 1 }) }),
      ],
      version: { vector: vector({ ant: 9, bee: 2 }), except: [dot(ant, 1)] },
    },
    {
      name: 'a join of both ends the exception',
      of: dot(bee, 5),
      parents: [
        put(ant, 7, { vector: vector({ ant: 7, bee: 2 }), except: [dot(ant, 1)] }),
        put(ant, 1, { vector: vector({ ant: 1 }) }),
      ],
      others: [],
      version: { vector: vector({ ant: 7, bee: 5 }) },
    },
    {
      name: 'an operation of the same origin hidden behind a head of another becomes an exception',
      of: dot(ant, 7),
      parents: [put(bee, 2, { vector: vector({ bee: 2 }) })],
      others: [put(cat, 3, { vector: vector({ ant: 1, cat: 3 }) }), put(ant, 1, { vector: vector({ ant: 1 }) })],
      version: { vector: vector({ ant: 7, bee: 2 }), except: [dot(ant, 1)] },
    },
    {
      name: 'a join by this resolver that its own disk does not show yet becomes an exception',
      of: dot(ant, 7),
      parents: [put(bee, 2, { vector: vector({ bee: 2 }) })],
      others: [put(ant, 6, { vector: vector({ ant: 6, bee: 2, cat: 3 }) })],
      version: { vector: vector({ ant: 7, bee: 2 }), except: [dot(ant, 6)] },
    },
  ];
  test.each(cases)('$name', ({ of, parents, others, version }) => {
    expect(nextVersion(of, parents, others)).toEqual(version);
  });
});

describe('[LC3] when own operations must be looked up', () => {
  const first = put(ant, 1, { vector: vector({ ant: 1 }) });
  const second = put(ant, 4, { vector: vector({ ant: 4 }) });
  const other = put(bee, 2, { vector: vector({ bee: 2 }) });
  const beyond = put(cat, 3, { vector: vector({ ant: 4, cat: 3 }) });
  const cases = [
    { name: 'a new path', parents: [], heads: [], needed: undefined },
    { name: 'the parent is the only head', parents: [second], heads: [second], needed: undefined },
    { name: 'all heads are joined', parents: [second, other], heads: [second, other], needed: undefined },
    { name: 'there is a sibling', parents: [second], heads: [second, other], needed: 4 },
    { name: 'the disk is behind', parents: [first], heads: [beyond], needed: 1 },
    { name: 'the disk has no entry', parents: [], heads: [beyond], needed: 0 },
  ];
  test.each(cases)('$name', ({ parents, heads, needed }) => {
    expect(ownNumbersNeeded(ant, parents, heads)).toBe(needed);
  });
});

describe('[SY1] knowledge of two members', () => {
  const cases = [
    { name: 'nothing and nothing', a: {}, b: {}, ordering: 'equal', beyond: 0 },
    { name: 'an absent origin counts as 0', a: { ant: 0 }, b: {}, ordering: 'equal', beyond: 0 },
    { name: 'the same', a: { ant: 2, bee: 1 }, b: { bee: 1, ant: 2 }, ordering: 'equal', beyond: 0 },
    { name: 'less', a: { ant: 2 }, b: { ant: 3, bee: 1 }, ordering: 'before', beyond: 0 },
    { name: 'more', a: { ant: 3, bee: 4 }, b: { ant: 1 }, ordering: 'after', beyond: 6 },
    { name: 'each something', a: { ant: 3 }, b: { ant: 1, bee: 5 }, ordering: 'concurrent', beyond: 2 },
  ] as const;
  test.each(cases)('$name', ({ a, b, ordering, beyond }) => {
    expect(compareVectors(vector(a), vector(b))).toBe(ordering);
    expect(countBeyond(vector(a), vector(b))).toBe(beyond);
  });
});
