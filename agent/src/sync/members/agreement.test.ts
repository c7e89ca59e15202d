import type { OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { Agreement, type Claim } from './agreement.ts';

const cat = 'cat.1' as OriginId;

/** Two members with journals of their own, and the agreement of the first with the second. */
class Pair {
  readonly ant = new LoneMember();
  readonly bee = new LoneMember();
  readonly agreement = new Agreement(this.ant.journal);

  /** Adds the next `count` operations of cat to both journals. */
  both(count: number): void {
    for (let index = 0; index < count; index++) {
      const operation = this.ant.operation(`both${index}`, { kind: 'delete' }, { origin: cat });
      this.bee.operation('', { kind: 'delete' }, { origin: cat });
      this.ant.received(operation);
      this.bee.received(operation);
    }
  }

  /** Adds `count` operations of cat to one journal; those of each branch differ. */
  one(member: LoneMember, branch: string, count: number): void {
    for (let index = 0; index < count; index++) {
      member.received(member.operation(`${branch}${index}`, { kind: 'delete' }, { origin: cat }));
    }
  }

  /** The present claim of bee. */
  get claim(): Claim {
    const { journal } = this.bee;
    return {
      known: journal.log.known(),
      marks: journal.log.marks(),
      applied: { vector: journal.log.known(), ranges: {} },
    };
  }

  judge(claim: Claim = this.claim): { readonly forked: OriginId | undefined; readonly held: number } {
    const { forked, applied } = this.agreement.judge(claim);
    return { forked, held: applied.vector[cat] ?? 0 };
  }
}

test('[FK6] the operations that a peer holds count while the logs are the same', () => {
  const pair = new Pair();
  pair.both(3);
  expect(pair.judge()).toEqual({ forked: undefined, held: 3 });
});

test('[FK3] [FK6] other operations under the same numbers are a fork, and count as held by no peer', () => {
  const pair = new Pair();
  pair.both(2);
  pair.one(pair.ant, 'one', 2);
  pair.one(pair.bee, 'two', 2);
  expect(pair.judge()).toEqual({ forked: cat, held: 0 });
});

test('[FK3] a fork is also found if the peer knows less', () => {
  const pair = new Pair();
  pair.both(2);
  pair.one(pair.ant, 'one', 3);
  pair.one(pair.bee, 'two', 1);
  expect(pair.judge().forked).toBe(cat);
});

test('[FK6] the operations that a peer ahead of this member holds count only as far as was compared', () => {
  const pair = new Pair();
  pair.both(2);
  pair.judge();
  pair.one(pair.bee, 'two', 2);
  expect(pair.judge()).toEqual({ forked: undefined, held: 2 });
  expect(pair.agreement.isBehind).toBe(true);
});

test('[FK1] the mark of a peer that was ahead is compared once this member knows as much', () => {
  const pair = new Pair();
  pair.both(2);
  pair.one(pair.bee, 'two', 2);
  const claim = pair.claim;
  pair.judge(claim);
  pair.ant.received(...pair.bee.journal.log.operationsOf(cat, 2, 9));
  expect(pair.judge(claim)).toEqual({ forked: undefined, held: 4 });
  expect(pair.agreement.isBehind).toBe(false);
});

test('[FK3] a fork is found if this member appended the successors of the branch at the peer to its own', () => {
  const pair = new Pair();
  pair.both(2);
  pair.one(pair.ant, 'one', 1);
  pair.one(pair.bee, 'two', 3);
  const claim = pair.claim;
  expect(pair.judge(claim).forked).toBeUndefined();
  pair.ant.received(...pair.bee.journal.log.operationsOf(cat, 3, 9));
  expect(pair.judge(claim)).toEqual({ forked: cat, held: 0 });
});

test('[FK3] a peer that does not know a seal yet has no fork, and its operations above the seal do not count', () => {
  const pair = new Pair();
  pair.both(2);
  pair.one(pair.bee, 'two', 2);
  pair.ant.journal.seal(cat, 2);
  expect(pair.agreement.judge(pair.claim)).toMatchObject({ known: { [cat]: 2 }, forked: undefined });
  expect(pair.agreement.isBehind).toBe(false);
  pair.bee.journal.seal(cat, 2);
  expect(pair.judge()).toEqual({ forked: undefined, held: 2 });
});

test('[FK6] a seal below what was compared lowers what counts', () => {
  const pair = new Pair();
  pair.both(4);
  const before = pair.claim;
  expect(pair.judge(before).held).toBe(4);
  pair.ant.journal.seal(cat, 3);
  expect(pair.judge(before).held).toBe(3);
});

test('[FK6] ranges also count only as far as was compared', () => {
  const pair = new Pair();
  pair.both(4);
  pair.judge();
  pair.one(pair.bee, 'two', 4);
  const applied = {
    vector: { [cat]: 1 },
    ranges: {
      [cat]: [
        [3, 6],
        [8, 8],
      ] as const,
    },
  };
  expect(pair.agreement.judge({ ...pair.claim, applied }).applied).toEqual({
    vector: { [cat]: 1 },
    ranges: { [cat]: [[3, 4]] },
  });
});

test('[FK6] without a mark no operation counts as held, and none as a fork', () => {
  const pair = new Pair();
  pair.both(2);
  pair.one(pair.ant, 'one', 1);
  pair.one(pair.bee, 'two', 1);
  expect(pair.judge({ ...pair.claim, marks: new Uint8Array(0) })).toEqual({ forked: undefined, held: 0 });
});

test('[FK6] in a new session all logs are compared again', () => {
  const pair = new Pair();
  pair.both(2);
  pair.judge();
  pair.agreement.reset();
  expect(pair.judge({ ...pair.claim, marks: new Uint8Array(0) }).held).toBe(0);
  expect(pair.judge().held).toBe(2);
});
