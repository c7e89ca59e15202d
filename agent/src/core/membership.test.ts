import type { MemberCondition, MemberId, MemberState } from '@lockstep/shared';
import { downAfterMs } from '@lockstep/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConditionSigns, PeerSigns } from './membership.ts';
import { catchUpOrder, majorityOf, oldestActive, peerCondition, peerState, shouldKeepLink } from './membership.ts';

const ant = 'ant' as MemberId;
const bee = 'bee' as MemberId;

describe('[MB1] the state of a peer', () => {
  const suspectAfterMs = 3_000;
  const heard: PeerSigns = {
    membership: 'joined',
    connected: true,
    saidState: 'active',
    silentMs: 0,
    suspectAfterMs,
  };
  const cases: readonly { name: string; signs: Partial<PeerSigns>; state: MemberState }[] = [
    { name: 'connected and active', signs: {}, state: 'active' },
    { name: 'connected and syncing', signs: { saidState: 'syncing' }, state: 'syncing' },
    { name: 'connected and joining', signs: { saidState: 'joining' }, state: 'joining' },
    { name: 'connected, without a report yet', signs: { saidState: undefined }, state: 'joining' },
    { name: 'reports a state that it cannot be in', signs: { saidState: 'down' }, state: 'joining' },
    { name: 'silent for a moment', signs: { silentMs: suspectAfterMs - 1 }, state: 'active' },
    { name: 'silent for too long', signs: { silentMs: suspectAfterMs }, state: 'suspect' },
    { name: 'silent, nearly down', signs: { silentMs: downAfterMs - 1 }, state: 'suspect' },
    { name: 'silent and down, although the session is open', signs: { silentMs: downAfterMs }, state: 'down' },
    { name: 'its session just broke', signs: { connected: false }, state: 'suspect' },
    { name: 'stopped cleanly', signs: { connected: false, stopped: true }, state: 'down' },
    { name: 'not back in time', signs: { connected: false, silentMs: downAfterMs }, state: 'down' },
    { name: 'never heard from', signs: { connected: false, saidState: undefined, silentMs: Infinity }, state: 'down' },
    { name: 'left', signs: { membership: 'left' }, state: 'left' },
    {
      name: 'left and long silent',
      signs: { membership: 'left', connected: false, silentMs: Infinity },
      state: 'left',
    },
  ];
  test.each(cases)('$name: $state', ({ signs, state }) => {
    expect(peerState({ ...heard, ...signs })).toBe(state);
  });
});

function member(id: string, state: MemberState, enabledAt?: number, connected = true) {
  return { id: id as MemberId, state, enabledAt, connected };
}

describe('[MB2] the oldest member', () => {
  const cases = [
    { name: 'no member', members: [], oldest: undefined },
    { name: 'no active member', members: [member('ant', 'syncing', 1), member('bee', 'down', 2)], oldest: undefined },
    {
      name: 'the smallest enabled-at',
      members: [member('ant', 'active', 20), member('bee', 'active', 10)],
      oldest: 'bee',
    },
    {
      name: 'an older one that is suspect does not count',
      members: [member('ant', 'suspect', 1), member('bee', 'active', 10)],
      oldest: 'bee',
    },
    {
      name: 'equal ages: the smaller id',
      members: [member('bee', 'active', 10), member('ant', 'active', 10)],
      oldest: 'ant',
    },
    {
      name: 'one that did not report since when',
      members: [member('ant', 'active'), member('bee', 'active', 99)],
      oldest: 'bee',
    },
  ];
  test.each(cases)('$name', ({ members, oldest }) => {
    expect(oldestActive(members)?.id).toBe(oldest);
  });
});

describe('[SY2] the members to ask for operations', () => {
  const cases = [
    { name: 'no member', members: [], order: [] },
    {
      name: 'the oldest active first, then the next',
      members: [member('ant', 'active', 30), member('bee', 'active', 10), member('cat', 'active', 20)],
      order: ['bee', 'cat', 'ant'],
    },
    {
      name: 'then any other connected one',
      members: [
        member('ant', 'suspect', 1),
        member('bee', 'joining'),
        member('cat', 'syncing', 5),
        member('dog', 'active', 50),
        member('eve', 'syncing'),
      ],
      order: ['dog', 'cat', 'eve', 'bee', 'ant'],
    },
    {
      name: 'not one that is not connected',
      members: [member('ant', 'active', 1, false), member('bee', 'active', 2)],
      order: ['bee'],
    },
    { name: 'not one that left', members: [member('ant', 'left', 1), member('bee', 'joining')], order: ['bee'] },
  ];
  test.each(cases)('$name', ({ members, order }) => {
    expect(catchUpOrder(members).map(({ id }) => id)).toEqual(order);
  });

  test('the order does not depend on that of the input', () => {
    const anyMember = fc.record({
      id: fc.string({ minLength: 1, maxLength: 3 }).map((id) => id as MemberId),
      state: fc.constantFrom<MemberState>('joining', 'syncing', 'active', 'suspect', 'down', 'left'),
      enabledAt: fc.option(fc.nat(5), { nil: undefined }),
      connected: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.uniqueArray(anyMember, { selector: ({ id }) => id }), (members) => {
        const reversed = members.toReversed();
        expect(catchUpOrder(reversed)).toEqual(catchUpOrder(members));
        expect(oldestActive(reversed)).toEqual(oldestActive(members));
      }),
    );
  });
});

test('[AK3] a majority is more than half', () => {
  expect([1, 2, 3, 4, 5, 6, 64].map(majorityOf)).toEqual([1, 2, 2, 3, 3, 4, 33]);
});

describe('[MB9] two sessions between the same two members', () => {
  test('both dialled at once: the one dialled by the smaller id survives, on both sides and in either order', () => {
    // For each side: the session that it knows first, with its own view of `dialled`.
    for (const antSawOwnFirst of [true, false]) {
      for (const beeSawOwnFirst of [true, false]) {
        const antKeepsExisting = shouldKeepLink({ dialled: antSawOwnFirst }, { dialled: !antSawOwnFirst }, ant, bee);
        const beeKeepsExisting = shouldKeepLink({ dialled: beeSawOwnFirst }, { dialled: !beeSawOwnFirst }, bee, ant);
        const antKeepsOwn = antKeepsExisting === antSawOwnFirst;
        const beeKeepsOwn = beeKeepsExisting === beeSawOwnFirst;
        expect({ antKeepsOwn, beeKeepsOwn }).toEqual({ antKeepsOwn: true, beeKeepsOwn: false });
      }
    }
  });

  test('the same side dialled again: the new session survives on both sides', () => {
    for (const dialled of [true, false]) {
      expect(shouldKeepLink({ dialled }, { dialled }, ant, bee)).toBe(false);
      expect(shouldKeepLink({ dialled }, { dialled }, bee, ant)).toBe(false);
    }
  });
});

describe('[MB13] [MB15] the condition of a peer', () => {
  const heard: ConditionSigns = {
    ...{ state: 'active', connected: true, gone: undefined, isPassedOn: false },
    ...{ wasHeard: true, mayBeAway: false, isPausedHere: false },
  };
  const off = { state: 'down', connected: false } as const;
  test.each<[MemberCondition, MemberCondition, Partial<ConditionSigns>]>([
    ['active', 'active', {}],
    ['down', 'away', off],
    ['shut-down', 'away', { ...off, gone: 'stopped' }],
    ['paused', 'paused', { ...off, gone: 'paused' }],
    ['cut-off', 'cut-off', { ...off, isPassedOn: true }],
    ['silent', 'silent', { state: 'suspect', connected: false }],
    ['unknown', 'unknown', { state: 'suspect', connected: false, wasHeard: false }],
    ['unknown', 'unknown', { ...off, isPausedHere: true }],
    ['left', 'left', { ...off, state: 'left' }],
  ])('%s, and %s if it may be away: %o', (condition, marked, signs) => {
    expect(peerCondition({ ...heard, ...signs })).toBe(condition);
    expect(peerCondition({ ...heard, ...signs, mayBeAway: true })).toBe(marked);
  });
});
