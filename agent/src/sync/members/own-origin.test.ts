import { type MemberId, type MemberRecord, memberPath, type OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { Agreement } from './agreement.ts';
import { OwnOrigin } from './own-origin.ts';
import { Peer } from './peer.ts';

const bee = 'bee' as MemberId;

/** Ant, with `given` numbers of its own used in earlier runs, and other members in its journal. */
function started({
  given,
  others = [],
}: {
  readonly given: number;
  readonly others?: readonly MemberRecord['membership'][];
}) {
  const ant = new LoneMember();
  const { journal } = ant;
  others.forEach((membership, index) => {
    const id = `bee${index}` as MemberId;
    const origin = `${id}.1` as OriginId;
    const record = { id, name: id, addresses: [], membership };
    ant.received({ ...ant.operation(memberPath(id), { kind: 'member' }, { origin }), member: record });
  });
  for (let seq = 1; seq <= given; seq++) ant.received(ant.operation(`own${seq}`, { kind: 'delete' }));
  const before = journal.origin;
  let renewed = 0;
  const ownOrigin = new OwnOrigin(ant.context, () => {
    renewed++;
  });
  const heardOf = (known: number): Peer => {
    const peer = new Peer(bee, { agreement: new Agreement(journal), nowWallMs: 0 });
    peer.known = { [before]: known };
    return peer;
  };
  return {
    ownOrigin,
    heardOf,
    /** Whether the next number belongs to the origin that the journal had when it was opened. */
    goesOn: () => {
      ownOrigin.ensure();
      return journal.origin === before;
    },
    renewed: () => renewed,
  };
}

test.each([
  ['its first start', { given: 0 }],
  ['later starts', { given: 3 }],
  ['others that left', { given: 3, others: ['left'] as const }],
])('[FK2] a member without others keeps its origin: %s', (_, state) => {
  const { goesOn, renewed } = started(state);
  expect(goesOn()).toBe(true);
  expect(renewed()).toBe(0);
});

test('[FK2] a member with others whose origin has no numbers yet may have lost them', () => {
  const { goesOn, renewed } = started({ given: 0, others: ['joined'] });
  expect(goesOn()).toBe(false);
  // No session was opened under the origin before.
  expect(renewed()).toBe(0);
});

test('[FK2] without a confirmation by another member the next number begins a new incarnation, once', () => {
  const { goesOn, renewed, ownOrigin } = started({ given: 3, others: ['joined'] });
  expect(goesOn()).toBe(false);
  ownOrigin.ensure();
  expect(renewed()).toBe(1);
});

test.each([
  ['the last number', 3, true],
  ['an earlier number', 1, true],
  ['nothing of it: a newcomer', 0, false],
  ['more than this member', 4, false],
])('[FK2] a member that knows %s', (_, known, confirms) => {
  const { ownOrigin, heardOf, goesOn } = started({ given: 3, others: ['joined'] });
  ownOrigin.heard(heardOf(known));
  expect(goesOn()).toBe(confirms);
});

test('[FK2] only a member that knows more than this one makes it begin a new incarnation at once', () => {
  const { ownOrigin, heardOf, renewed } = started({ given: 3, others: ['joined'] });
  expect(ownOrigin.renewIfOutdated(heardOf(3))).toBe(false);
  expect(renewed()).toBe(0);
  expect(ownOrigin.renewIfOutdated(heardOf(4))).toBe(true);
  expect(renewed()).toBe(1);
});
