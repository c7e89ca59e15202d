import type { Dot, OriginId } from '@lockstep/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Digest } from './digest.ts';
import { emptyDigest, formatDigest, withHead, withoutHead } from './digest.ts';

const ant = `${'a'.repeat(52)}.aaaaaaaa` as OriginId;
const bee = `${'b'.repeat(52)}.aaaaaaaa` as OriginId;

interface Head {
  readonly path: string;
  readonly dot: Dot;
  readonly mark?: number;
}

const anyHead: fc.Arbitrary<Head> = fc.record({
  path: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
  dot: fc.record({ origin: fc.constantFrom(ant, bee), seq: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }) }),
});

function digestOf(heads: readonly Head[]): Digest {
  return heads.reduce((digest, { path, dot, mark = 0 }) => withHead(digest, path, dot, mark), emptyDigest);
}

describe('digest', () => {
  test('[JN7] the order of the heads does not matter', () => {
    fc.assert(
      fc.property(fc.array(anyHead), fc.func(fc.integer()), (heads, rank) => {
        const shuffled = heads
          .map((head, index) => ({ head, key: rank(index) }))
          .sort((x, y) => x.key - y.key)
          .map(({ head }) => head);
        expect(digestOf(shuffled)).toEqual(digestOf(heads));
      }),
    );
  });

  test('[JN7] taking a head out undoes putting it in', () => {
    fc.assert(
      fc.property(fc.array(anyHead), anyHead, (heads, { path, dot }) => {
        const digest = digestOf(heads);
        expect(withoutHead(withHead(digest, path, dot, 5), path, dot, 5)).toEqual(digest);
      }),
    );
  });

  test('[JN7] both halves stay unsigned 32-bit integers', () => {
    fc.assert(
      fc.property(fc.array(anyHead, { maxLength: 20 }), (heads) => {
        const { hi, lo } = digestOf(heads);
        expect([hi >>> 0, lo >>> 0]).toEqual([hi, lo]);
      }),
    );
  });

  const pairs: readonly { name: string; a: Head; b: Head }[] = [
    { name: 'path', a: { path: 'a', dot: { origin: ant, seq: 1 } }, b: { path: 'b', dot: { origin: ant, seq: 1 } } },
    { name: 'origin', a: { path: 'a', dot: { origin: ant, seq: 1 } }, b: { path: 'a', dot: { origin: bee, seq: 1 } } },
    { name: 'number', a: { path: 'a', dot: { origin: ant, seq: 1 } }, b: { path: 'a', dot: { origin: ant, seq: 2 } } },
    {
      name: 'number above 2^32',
      a: { path: 'a', dot: { origin: ant, seq: 5 } },
      b: { path: 'a', dot: { origin: ant, seq: 5 + 2 ** 32 } },
    },
    {
      name: 'mark',
      a: { path: 'a', dot: { origin: ant, seq: 5 }, mark: 3 },
      b: { path: 'a', dot: { origin: ant, seq: 5 }, mark: 2 ** 40 + 3 },
    },
    {
      name: 'odd length and a NUL that fills the word',
      a: { path: 'abc', dot: { origin: ant, seq: 1 } },
      b: { path: 'abc\0', dot: { origin: ant, seq: 1 } },
    },
    {
      name: 'exchanged characters',
      a: { path: 'abcd', dot: { origin: ant, seq: 1 } },
      b: { path: 'cdab', dot: { origin: ant, seq: 1 } },
    },
  ];
  test.each(pairs)('[JN7] heads that differ by $name have different digests in both halves', ({ a, b }) => {
    const [first, second] = [digestOf([a]), digestOf([b])];
    expect(first.hi).not.toBe(second.hi);
    expect(first.lo).not.toBe(second.lo);
  });

  test('[JN7] a hundred thousand similar heads do not collide', () => {
    const seen = new Set<string>();
    let count = 0;
    for (const origin of [ant, bee]) {
      for (let directory = 0; directory < 50; directory++) {
        for (let file = 0; file < 1_000; file++) {
          const dot = { origin, seq: (file % 100) + 1 };
          seen.add(formatDigest(withHead(emptyDigest, `src/d${directory}/file-${file}.txt`, dot, 0)));
          count++;
        }
      }
    }
    expect(seen.size).toBe(count);
  });

  test('[JN7] two heads that exchange their operations change the digest', () => {
    const [one, two] = [
      { origin: ant, seq: 1 },
      { origin: ant, seq: 2 },
    ];
    const straight = withHead(withHead(emptyDigest, 'x', one, 0), 'y', two, 0);
    const crossed = withHead(withHead(emptyDigest, 'x', two, 0), 'y', one, 0);
    expect(crossed).not.toEqual(straight);
  });

  test('[JN7] the value is part of the protocol and does not change', () => {
    expect(formatDigest(emptyDigest)).toBe('0000000000000000');
    expect(formatDigest(withHead(emptyDigest, 'notes/a b.txt', { origin: ant, seq: 7 }, 1))).toBe('5acb2d283cde2e3a');
    expect(formatDigest(withHead(emptyDigest, 'naïve/🐜', { origin: bee, seq: 2 ** 40 + 3 }, 2 ** 47))).toBe(
      '22336a9b7dfba8d8',
    );
  });
});
