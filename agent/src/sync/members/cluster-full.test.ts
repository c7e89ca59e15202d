import { type MemberId, memberPath, membersMax, type OriginId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import type { Link } from '../ports/network.ts';

const bee = 'bee' as OriginId;
const idOf = (number: number): MemberId => String(number).padStart(52, 'a') as MemberId;

/** A session with an unknown member; `closes` are the reasons with which it was closed. */
function newcomer(peer = 'newcomer' as MemberId): { link: Link; closes: [string, boolean | undefined][] } {
  const closes: [string, boolean | undefined][] = [];
  const link: Link = {
    peer,
    dialled: false,
    remote: '10.0.0.1:1',
    send: () => undefined,
    receivedBytes: () => 0,
    partialBlockBytes: () => 0,
    withdraw: () => [],
    queuedBytes: () => 0,
    whenDrained: (_lane, run) => run(),
    whenSent: (run) => run(),
    start: () => undefined,
    close: (reason, isFault) => closes.push([reason, isFault]),
  };
  return { link, closes };
}

/** A member whose list has `others` other members, of which `left` have left. */
function memberAmong(others: number, left: number): LoneMember {
  const lone = new LoneMember();
  for (let number = 0; number < others; number++) {
    const record = {
      id: idOf(number),
      name: `member-${number}`,
      addresses: [],
      membership: number < left ? 'left' : 'joined',
    } as const;
    const operation = lone.operation(memberPath(record.id), { kind: 'member' }, { origin: bee });
    lone.received({ ...operation, member: record });
  }
  lone.peers.learn();
  return lone;
}

describe('[MB20] a full cluster', () => {
  test('refuses one more with a problem that names those that are away', () => {
    const lone = memberAmong(membersMax - 1, 0);
    const { link, closes } = newcomer();
    lone.peers.accept(link);
    expect(closes).toEqual([[`the cluster already has ${membersMax} members`, true]]);
    const [problem] = lone.context.problems.list();
    expect(problem).toMatchObject({ code: 'cluster-full', detail: expect.stringContaining('member-62') });
  });

  test('takes one more when one of them has left, regardless of earlier ones', () => {
    const lone = memberAmong(2 * membersMax, membersMax + 2);
    const { link, closes } = newcomer();
    expect(() => lone.peers.accept(link)).toThrow('a lone member sends no hello');
    expect(closes).toEqual([]);
    expect(lone.context.problems.list()).toEqual([]);
  });
});

test('[MB14] a removed member with the name of another one is told the id by which it is taken back', () => {
  const lone = new LoneMember();
  const removed = 'c'.repeat(52) as MemberId;
  for (const id of [removed, idOf(1)]) {
    const membership = id === removed ? 'left' : 'joined';
    const record = { id, name: 'bee', addresses: [], membership } as const;
    lone.received({ ...lone.operation(memberPath(id), { kind: 'member' }), member: record });
  }
  lone.peers.learn();
  const { link, closes } = newcomer(removed);
  lone.peers.accept(link);
  expect(closes).toEqual([[expect.stringContaining('lockstep remove --undo cccccccc'), true]]);
});
