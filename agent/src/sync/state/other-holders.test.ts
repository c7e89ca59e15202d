import type { Applied, MemberId, MemberRecord, OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import type { Journal } from '../ports/journal.ts';
import { OtherHolders } from './other-holders.ts';

const [ant, bee, cat] = ['ant', 'bee', 'cat'] as [MemberId, MemberId, MemberId];
const dot = { origin: 'ant.1' as OriginId, seq: 3 };
const upTo = (seq: number): Applied => ({ vector: { [dot.origin]: seq }, ranges: {} });

function holdersWith(saved: Readonly<Record<MemberId, Applied>>, left: readonly MemberId[] = []): OtherHolders {
  const members = [ant, bee, cat].map(
    (id): MemberRecord => ({ id, name: id, addresses: [], membership: left.includes(id) ? 'left' : 'joined' }),
  );
  const journal: Pick<Journal, 'acks' | 'members'> = {
    acks: { all: () => saved, save: () => undefined },
    members: { all: () => members },
  };
  return new OtherHolders(ant, journal as Journal);
}

test('[LC17] an acknowledgement of this run or an earlier one shows that a member holds an operation', () => {
  expect(holdersWith({ [bee]: upTo(3) }).holding(dot)).toBe('held');
  const holders = holdersWith({ [bee]: upTo(2) });
  expect(holders.holding(dot)).toBe('unknown');
  holders.heard(bee, upTo(3));
  expect(holders.holding(dot)).toBe('held');
});

test('[LC17] an operation is nowhere else only if all members that have not left were heard in this run', () => {
  const holders = holdersWith({ [bee]: upTo(2), [cat]: upTo(2) });
  holders.heard(bee, upTo(2));
  expect(holders.holding(dot)).toBe('unknown');
  holders.heard(cat, upTo(1));
  expect(holders.holding(dot)).toBe('nowhere');
  expect(holdersWith({}, [bee, cat]).holding(dot)).toBe('nowhere');
  // A member alone in its cluster has no other member to ask.
  expect(holdersWith({ [bee]: upTo(3) }, [bee, cat]).holding(dot)).toBe('nowhere');
});

test('[CT14] a member had what it wrote, and what it acknowledged', () => {
  const holders = holdersWith({ [bee]: upTo(3), [cat]: upTo(2) }, [bee, cat]);
  expect([bee, cat].filter((member) => holders.hadIt(member, dot))).toEqual([bee]);
  expect(holders.hadIt(cat, { origin: cat as string as OriginId, seq: 7 })).toBe(true);
});
