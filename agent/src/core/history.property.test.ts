import type { ContentId, Dot, Operation, OriginId } from '@lockstep/shared';
import { dotKey } from '@lockstep/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inOrder, losers, mergeHead } from './merge.ts';
import { covers, joinVersions, nextVersion, ownNumbersNeeded, supersedes } from './version.ts';

/**
 * Histories of one path as a cluster can produce them. Each member holds a part of the operations. It edits the entry on its disk and joins
 * siblings as a resolver. It sends operations of one origin in order, those of different origins in any order. In addition to the versions,
 * the test keeps for each operation the set of all operations before it.
 */
interface Made {
  readonly operation: Operation;
  /** Keys of the operations that its author knew, itself included. */
  readonly past: ReadonlySet<string>;
}

type Step =
  | { readonly do: 'edit'; readonly who: number; readonly content: number; readonly wallMs: number }
  | { readonly do: 'delete' | 'show' | 'forget' | 'join' | 'elsewhere'; readonly who: number; readonly wallMs: number }
  | {
      readonly do: 'carry';
      readonly from: number;
      readonly to: number;
      readonly whose: number;
      readonly count: number;
    };

interface Fields {
  readonly kind: 'put' | 'delete';
  readonly content?: ContentId | undefined;
  readonly replaced?: ContentId | undefined;
}

class TestMember {
  readonly origin: OriginId;
  /** The operations of each member that are held here, in seq order; undefined is an operation on another path. */
  readonly held: (Made | undefined)[][];
  readonly made = new Map<string, Made>();
  heads: readonly Operation[] = [];
  /** The operation that the disk shows: the parent of the next edit. */
  disk: Operation | undefined;
  readonly #index: number;

  constructor(index: number, memberCount: number) {
    this.#index = index;
    this.origin = `origin${index}` as OriginId;
    this.held = Array.from({ length: memberCount }, () => []);
  }

  make(fields: Fields, parents: readonly Operation[], wallMs: number): Operation {
    const own = this.#own();
    const dot: Dot = { origin: this.origin, seq: own.length + 1 };
    const needed = ownNumbersNeeded(this.origin, parents, this.heads);
    const earlier = needed === undefined ? [] : own.slice(needed).flatMap((made) => made?.operation ?? []);
    const operation = {
      ...dot,
      hlc: wallMs * 1024 + own.length,
      path: 'p',
      version: nextVersion(dot, parents, [...this.heads, ...earlier]),
      ...fields,
    } as Operation;
    const past = new Set([dotKey(dot)]);
    for (const parent of parents) {
      for (const key of this.made.get(dotKey(parent))?.past ?? []) past.add(key);
    }
    this.receive(this.#index, { operation, past });
    return operation;
  }

  receive(whose: number, made: Made | undefined): void {
    this.held[whose]?.push(made);
    if (made === undefined) return;
    this.made.set(dotKey(made.operation), made);
    this.heads = mergeHead(this.heads, made.operation);
  }

  #own(): (Made | undefined)[] {
    return this.held[this.#index] ?? [];
  }
}

function play({ memberCount, steps }: { memberCount: number; steps: readonly Step[] }): readonly TestMember[] {
  const members = Array.from({ length: memberCount }, (_, index) => new TestMember(index, memberCount));
  const memberAt = (index: number) => members[index % memberCount] as TestMember;
  for (const step of steps) {
    if (step.do === 'carry') {
      const [from, to, whose] = [memberAt(step.from), memberAt(step.to), step.whose % memberCount];
      const start = to.held[whose]?.length ?? 0;
      for (const made of (from.held[whose] ?? []).slice(start, start + step.count)) to.receive(whose, made);
      continue;
    }
    const who = memberAt(step.who);
    const parents = who.disk === undefined ? [] : [who.disk];
    const replaced = who.disk?.content;
    switch (step.do) {
      case 'edit':
        who.disk = who.make({ kind: 'put', content: `c${step.content}` as ContentId, replaced }, parents, step.wallMs);
        break;
      case 'delete':
        who.disk = who.make({ kind: 'delete', replaced }, parents, step.wallMs);
        break;
      case 'join':
        // A resolver only journals; its disk shows the join later, as on every member.
        if (who.heads.length > 1) who.make({ kind: 'put', content: who.heads[0]?.content }, who.heads, step.wallMs);
        break;
      case 'show':
        who.disk = who.heads[0];
        break;
      case 'forget':
        who.disk = undefined;
        break;
      case 'elsewhere':
        who.receive(step.who % memberCount, undefined);
        break;
    }
  }
  return members;
}

const anyIndex = fc.nat(3);
const anyWallMs = fc.integer({ min: 1, max: 20 });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('edit' as const), who: anyIndex, content: fc.nat(3), wallMs: anyWallMs }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'delete' as const,
        'show' as const,
        'show' as const,
        'forget' as const,
        'join' as const,
        'join' as const,
        'elsewhere' as const,
      ),
      who: anyIndex,
      wallMs: anyWallMs,
    }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant('carry' as const),
      from: anyIndex,
      to: anyIndex,
      whose: anyIndex,
      count: fc.integer({ min: 1, max: 3 }),
    }),
  },
);
const anyHistory = fc.record({
  memberCount: fc.integer({ min: 2, max: 4 }),
  steps: fc.array(anyStep, { maxLength: 60, size: 'max' }),
});
const numRuns = 1_000;

function allMade(members: readonly TestMember[]): readonly Made[] {
  return [...new Map(members.flatMap((member) => [...member.made])).values()];
}

/** The operations that no author of another one in the set knew. */
function maximal(made: readonly Made[]): readonly Operation[] {
  return inOrder(
    made
      .filter(
        ({ operation }) => !made.some((other) => other.operation !== operation && other.past.has(dotKey(operation))),
      )
      .map(({ operation }) => operation),
  );
}

function mergeAll(operations: readonly Operation[]): readonly Operation[] {
  return operations.reduce<readonly Operation[]>(mergeHead, []);
}

describe('over histories that a cluster can produce', () => {
  test('[MG2] an operation supersedes exactly those that its author knew', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const made = allMade(play(history));
        for (const a of made) {
          for (const b of made) {
            const expected = a !== b && a.past.has(dotKey(b.operation));
            if (supersedes(a.operation, b.operation) !== expected) {
              expect.fail(
                `${dotKey(a.operation)} ${JSON.stringify(a.operation.version)} supersedes ${dotKey(b.operation)}: ${!expected}`,
              );
            }
          }
        }
      }),
      { numRuns },
    );
  });

  test('[MG3] the heads of each member are those that no other operation it holds supersedes', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        for (const member of play(history)) expect(member.heads).toEqual(maximal([...member.made.values()]));
      }),
      { numRuns },
    );
  });

  test('[MG3] the heads depend neither on the order of any subset nor on repetition', () => {
    fc.assert(
      fc.property(anyHistory, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (history, random) => {
        const made = allMade(play(history)).filter(() => (random.next().value ?? 0) < 0.8);
        const operations = made.map(({ operation }) => operation);
        const shuffled = [...operations, ...operations.slice(0, 5)]
          .map((operation) => ({ operation, key: random.next().value ?? 0 }))
          .sort((a, b) => a.key - b.key)
          .map(({ operation }) => operation);
        expect(mergeAll(shuffled)).toEqual(maximal(made));
      }),
      { numRuns },
    );
  });

  test('[JN9] joining versions is the union of what they include', () => {
    fc.assert(
      fc.property(anyHistory, fc.array(fc.nat(), { maxLength: 4 }), (history, picks) => {
        const made = allMade(play(history));
        if (made.length === 0) return;
        const versions = picks.map((pick) => (made[pick % made.length] as Made).operation.version);
        const join = joinVersions(versions);
        for (const { operation } of made) {
          expect(covers(join, operation)).toBe(versions.some((version) => covers(version, operation)));
        }
      }),
      { numRuns },
    );
  });

  test('[MG7] once a resolver has joined all heads and all members know it, one head is left', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const members = play(history);
        const everything = allMade(members).map(({ operation }) => operation);
        const [resolver] = members as [TestMember];
        for (const [whose, other] of members.entries()) {
          const start = resolver.held[whose]?.length ?? 0;
          for (const made of (other.held[whose] ?? []).slice(start)) resolver.receive(whose, made);
        }
        if (resolver.heads.length === 0) return;
        const join = resolver.make({ kind: 'put' }, resolver.heads, 1);
        expect(mergeAll([join, ...everything])).toEqual([join]);
      }),
      { numRuns },
    );
  });

  test('[CF2] each content of a head is visible, a loser, equal to one of these, or replaced by a later sibling', () => {
    fc.assert(
      fc.property(anyHistory, fc.boolean(), (history, heldUp) => {
        for (const { heads } of play(history)) {
          const lost = losers(heads, heldUp);
          expect(losers(heads.toReversed(), heldUp)).toEqual(lost);
          const kept = heldUp ? lost : [...lost, ...heads.slice(0, 1)];
          for (const head of heads) {
            if (head.content === undefined || kept.some(({ content }) => content === head.content)) continue;
            expect(heads.some((other) => other.replaced === head.content && other.hlc > head.hlc)).toBe(true);
          }
        }
      }),
      { numRuns },
    );
  });
});
