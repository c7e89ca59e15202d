import { type ForkMessage, type MemberId, type Operation, originId, type PeerMessage } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import type { Link } from '../ports/network.ts';
import { Agreement } from './agreement.ts';
import { Forks } from './forks.ts';
import { OwnOrigin } from './own-origin.ts';
import { Peer } from './peer.ts';

const catId = 'cat'.padEnd(52, '2') as MemberId;
const cat = originId(catId, 'aaaaaaaa');

/** One member with its repair of forks, and the messages to its one connected peer. */
class Side {
  readonly member: LoneMember;
  readonly forks: Forks;
  readonly peer: Peer;
  readonly sent: PeerMessage[] = [];

  constructor(seed: number) {
    this.member = new LoneMember((folder) => folder, { seed });
    const { context, peers, operationWriter, journal } = this.member;
    const ownOrigin = new OwnOrigin(context, () => undefined);
    this.forks = new Forks(context, { peers, operationWriter, ownOrigin });
    this.peer = new Peer('peer' as MemberId, undefined, 0, new Agreement(journal));
    this.peer.link = { send: (message: PeerMessage) => this.sent.push(message) } as unknown as Link;
  }

  get journal() {
    return this.member.journal;
  }

  /** Adds the next operation of cat. */
  has(path: string, text?: string): void {
    const parents = this.journal.heads(path);
    const entry = text === undefined ? ({ kind: 'delete' } as const) : ({ kind: 'put', text } as const);
    this.member.received(this.member.operation(path, entry, { origin: cat, parents }));
  }

  /** The contents or kinds of the heads at the path, the visible one first. */
  at(path: string): readonly string[] {
    return this.journal.heads(path).map(({ kind, content }) => content ?? kind);
  }
}

/** Two sides with the same three operations of cat, and then different ones under the same numbers. */
function forked(): readonly [Side, Side] {
  const sides = [new Side(1), new Side(2)] as const;
  for (const side of sides) for (const path of ['edited', 'gone-one', 'gone-two']) side.has(path, 'old');
  const [one, two] = sides;
  one.has('edited', 'one');
  one.has('gone-one');
  two.has('edited', 'two');
  two.has('same', 'same');
  two.has('gone-two');
  return sides;
}

/** The first side reports the fork, and each side processes the answers of the other until there are no more. */
function repaired([one, two]: readonly [Side, Side]): void {
  one.peer.known = two.journal.known();
  one.forks.report(one.peer, cat);
  for (const message of one.sent.splice(0)) two.forks.reported(two.peer, message as ForkMessage);
  for (const message of two.sent.splice(0)) if (message.type === 'sealed') one.forks.seal(message.origins);
}

test('[FK3] a report names the numbers that both have, the last one first, each with its mark', () => {
  const [one, two] = forked();
  one.peer.known = two.journal.known();
  one.forks.report(one.peer, cat);
  const [report] = one.sent as ForkMessage[];
  expect(report).toMatchObject({ type: 'fork', origin: cat, seqs: [5, 4, 3, 2, 1] });
  expect(Buffer.from(report?.marks ?? []).toString('hex')).toBe(
    [5, 4, 3, 2, 1].map((seq) => one.journal.mark(cat, seq)).join(''),
  );
});

test('[FK3] both sides seal the origin at the last number on which they agree', () => {
  const sides = forked();
  repaired(sides);
  for (const { journal } of sides) {
    expect(journal.seals()).toEqual({ [cat]: 3 });
    expect(journal.known()[cat]).toBe(3);
    expect(journal.mark(cat, 3)).toBe(sides[0].journal.mark(cat, 3));
  }
});

test('[FK5] the writes and deletes of both branches are journaled again with their stamps, and nothing else', () => {
  const sides = forked();
  const hlcs = sides.map(({ journal }) => journal.heads('edited')[0]?.hlc);
  repaired(sides);
  const again = sides.map(({ journal }) =>
    journal.operationsOf(journal.origin, 0, 9).map(({ kind, path, hlc }) => ({ kind, path, hlc })),
  );
  expect(again.map((operations) => operations.map(({ kind, path }) => `${kind} ${path}`))).toEqual([
    ['put edited', 'delete gone-one'],
    ['put edited', 'put same', 'delete gone-two'],
  ]);
  expect(again.map(([first]) => first?.hlc)).toEqual(hlcs);
});

test('[FK3] [FK5] after the repair both sides converge, and no delete of a branch is undone', () => {
  const sides = forked();
  const [one, two] = sides;
  repaired(sides);
  for (const [from, to] of [
    [one, two],
    [two, one],
  ] as const) {
    to.member.received(...from.journal.operationsOf(from.journal.origin, 0, 9));
  }
  expect(one.journal.digest()).toBe(two.journal.digest());
  expect(one.journal.known()).toEqual(two.journal.known());
  for (const side of sides) {
    expect(side.at('edited')).toHaveLength(2);
    expect(side.at('gone-one')).toEqual(['delete']);
    expect(side.at('gone-two')).toEqual(['delete']);
    expect(side.journal.verifyHeads(false).differing).toEqual([]);
  }
});

test('[FK3] a report about a sealed origin changes nothing, and is answered', () => {
  const sides = forked();
  const [one, two] = sides;
  one.peer.known = two.journal.known();
  one.forks.report(one.peer, cat);
  const [report] = one.sent as ForkMessage[];
  repaired(sides);
  const before = two.journal.known();
  two.sent.length = 0;
  two.forks.reported(two.peer, report as ForkMessage);
  expect(two.journal.known()).toEqual(before);
  expect(two.sent).toEqual([{ type: 'sealed', origins: { [cat]: 3 } }]);
});

test('[FK3] a log without a common operation is sealed at 0', () => {
  const sides = [new Side(1), new Side(2)] as const;
  sides[0].has('x', 'one');
  sides[1].has('x', 'two');
  repaired(sides);
  for (const { journal } of sides) {
    expect(journal.seals()).toEqual({ [cat]: 0 });
    expect(Object.keys(journal.known())).toEqual([journal.origin]);
  }
});

test('[FK3] a lower seal from a third member cuts off more, and a higher one nothing', () => {
  const sides = forked();
  repaired(sides);
  const [one] = sides;
  one.forks.seal({ [cat]: 4 });
  expect(one.journal.seals()).toEqual({ [cat]: 3 });
  one.forks.seal({ [cat]: 2 });
  expect(one.journal.seals()).toEqual({ [cat]: 2 });
  const again = one.journal.operationsOf(one.journal.origin, 0, 9).map(({ kind, path }) => `${kind} ${path}`);
  expect(again).toEqual(['put edited', 'delete gone-one', 'put gone-two']);
});

test('[FK3] a member whose own log forked begins a new incarnation, and journals under that', () => {
  const side = new Side(1);
  const { member, journal } = side;
  const { origin } = journal;
  const kept = member.operation('kept', { kind: 'put', text: 'kept' });
  member.received(kept, member.operation('own', { kind: 'put', text: 'own' }));
  side.forks.seal({ [origin]: 1 });
  expect(journal.origin).not.toBe(origin);
  expect(journal.known()).toEqual({ [origin]: 1, [journal.origin]: 1 });
  expect(journal.heads('own')).toMatchObject([{ origin: journal.origin, seq: 1 }]);
  expect(journal.heads('kept')).toEqual([kept]);
});

test('[FK3] an event names the member that was set back, and the number of operations that were cut off', () => {
  const sides = forked();
  repaired(sides);
  expect(sides[1].journal.events(0, 9)).toMatchObject([{ kind: 'forked', data: { member: catId, operations: 3 } }]);
});

describe('[FK10] an operation that names a number which has another operation here', () => {
  const dog = originId('dog'.padEnd(52, '2') as MemberId, 'bbbbbbbb');

  /** A side that has three operations of cat, and an operation of dog at `path`, made before the third, that supersedes the `seq`-th. */
  function named(path: string, seq: number): { readonly side: Side; readonly naming: Operation } {
    const side = new Side(1);
    for (const text of ['one', 'two']) side.has('p', text);
    const { member } = side;
    const own = member.operation(path, { kind: 'put', text: 'naming' }, { origin: dog });
    const naming = { ...own, version: { vector: { ...own.version.vector, [cat]: seq } } };
    side.has('p', 'three');
    member.received(naming);
    return { side, naming };
  }

  test.each([
    { what: 'that was stamped later', path: 'p', seq: 3, seal: 2 },
    { what: 'at another path', path: 'q', seq: 2, seal: 1 },
    { what: 'at the same path with an earlier stamp', path: 'p', seq: 2, seal: undefined },
    { what: 'that is not known here', path: 'p', seq: 4, seal: undefined },
  ])('one $what: the origin is sealed at $seal', ({ path, seq, seal }) => {
    const { side, naming } = named(path, seq);
    side.member.context.facts.received.publish([naming]);
    expect(side.journal.seals()[cat]).toBe(seal);
  });

  test('so that the operation that it superseded unseen is journaled again', () => {
    const { side, naming } = named('p', 3);
    expect(side.journal.heads('p')).toEqual([naming]);
    side.member.context.facts.received.publish([naming]);
    expect(side.at('p')).toEqual([contentOfText('three').id, contentOfText('naming').id]);
  });

  test('a member that is named for a number that it does not know begins a new incarnation', () => {
    const side = new Side(1);
    const { member, journal } = side;
    const { origin } = journal;
    const first = member.operation('p', { kind: 'put', text: 'first' });
    const naming = member.operation('p', { kind: 'put', text: 'naming' }, { origin: dog, parents: [first] });
    member.received(first);
    member.context.facts.received.publish([naming]);
    expect(journal.origin).toBe(origin);
    member.context.facts.received.publish([{ ...naming, version: { vector: { [origin]: 2, [dog]: 1 } } }]);
    expect(journal.origin).not.toBe(origin);
    expect(journal.seals()).toEqual({});
    expect(journal.known()[origin]).toBe(1);
  });
});
