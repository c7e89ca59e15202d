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
    this.peer = new Peer('peer' as MemberId, { agreement: new Agreement(journal), nowWallMs: 0 });
    this.peer.link = { send: (message: PeerMessage) => this.sent.push(message) } as unknown as Link;
  }

  get journal() {
    return this.member.journal;
  }

  /** The next operation of cat, made from the heads that are here now. */
  next(path: string, text?: string): Operation {
    const parents = this.journal.heads.at(path);
    const entry = text === undefined ? ({ kind: 'delete' } as const) : ({ kind: 'put', text } as const);
    return this.member.operation(path, entry, { origin: cat, parents });
  }

  /** Adds the next operation of cat. */
  has(path: string, text?: string): void {
    this.member.received(this.next(path, text));
  }

  /** The contents or kinds of the heads at the path, the visible one first. */
  at(path: string): readonly string[] {
    return this.journal.heads.at(path).map(({ kind, content }) => content ?? kind);
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
  one.peer.known = two.journal.log.known();
  one.forks.report(one.peer, cat);
  for (const message of one.sent.splice(0)) two.forks.reported(two.peer, message as ForkMessage);
  for (const message of two.sent.splice(0)) if (message.type === 'sealed') one.forks.seal(message.origins);
}

test('[FK3] a report names the numbers that both have, the last one first, each with its mark', () => {
  const [one, two] = forked();
  one.peer.known = two.journal.log.known();
  one.forks.report(one.peer, cat);
  const [report] = one.sent as ForkMessage[];
  expect(report).toMatchObject({ type: 'fork', origin: cat, seqs: [5, 4, 3, 2, 1] });
  expect(Buffer.from(report?.marks ?? []).toString('hex')).toBe(
    [5, 4, 3, 2, 1].map((seq) => one.journal.log.mark(cat, seq)).join(''),
  );
});

test('[FK3] both sides seal the origin at the last number on which they agree', () => {
  const sides = forked();
  repaired(sides);
  for (const { journal } of sides) {
    expect(journal.seals.all()).toEqual({ [cat]: 3 });
    expect(journal.log.known()[cat]).toBe(3);
    expect(journal.log.mark(cat, 3)).toBe(sides[0].journal.log.mark(cat, 3));
  }
});

test('[FK5] the writes and deletes of both branches are journaled again with their stamps, and nothing else', () => {
  const sides = forked();
  const hlcs = sides.map(({ journal }) => journal.heads.at('edited')[0]?.hlc);
  repaired(sides);
  const again = sides.map(({ journal }) =>
    journal.log.operationsOf(journal.origin, 0, 9).map(({ kind, path, hlc }) => ({ kind, path, hlc })),
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
    to.member.received(...from.journal.log.operationsOf(from.journal.origin, 0, 9));
  }
  expect(one.journal.totals.digest()).toBe(two.journal.totals.digest());
  expect(one.journal.log.known()).toEqual(two.journal.log.known());
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
  one.peer.known = two.journal.log.known();
  one.forks.report(one.peer, cat);
  const [report] = one.sent as ForkMessage[];
  repaired(sides);
  const before = two.journal.log.known();
  two.sent.length = 0;
  two.forks.reported(two.peer, report as ForkMessage);
  expect(two.journal.log.known()).toEqual(before);
  expect(two.sent).toEqual([{ type: 'sealed', origins: { [cat]: 3 } }]);
});

test('[FK3] a log without a common operation is sealed at 0', () => {
  const sides = [new Side(1), new Side(2)] as const;
  sides[0].has('x', 'one');
  sides[1].has('x', 'two');
  repaired(sides);
  for (const { journal } of sides) {
    expect(journal.seals.all()).toEqual({ [cat]: 0 });
    expect(Object.keys(journal.log.known())).toEqual([journal.origin]);
  }
});

test('[FK3] a lower seal from a third member cuts off more, and a higher one nothing', () => {
  const sides = forked();
  repaired(sides);
  const [one] = sides;
  one.forks.seal({ [cat]: 4 });
  expect(one.journal.seals.all()).toEqual({ [cat]: 3 });
  one.forks.seal({ [cat]: 2 });
  expect(one.journal.seals.all()).toEqual({ [cat]: 2 });
  const again = one.journal.log.operationsOf(one.journal.origin, 0, 9).map(({ kind, path }) => `${kind} ${path}`);
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
  expect(journal.log.known()).toEqual({ [origin]: 1, [journal.origin]: 1 });
  expect(journal.heads.at('own')).toMatchObject([{ origin: journal.origin, seq: 1 }]);
  expect(journal.heads.at('kept')).toEqual([kept]);
});

test('[FK3] an event names the member that was set back, and the number of operations that were cut off', () => {
  const sides = forked();
  repaired(sides);
  expect(sides[1].journal.events.after(0, 9)).toMatchObject([
    { kind: 'forked', data: { member: catId, operations: 3 } },
  ]);
});

describe('[FK10] an operation that names a number which has another operation here', () => {
  const dog = originId('dog'.padEnd(52, '2') as MemberId, 'bbbbbbbb');

  /** Two sides with the same two operations of cat; the second has a third one, and dog's edit of that. */
  function named(): { readonly side: Side; readonly naming: Operation } {
    const [side, other] = [new Side(1), new Side(2)];
    for (const each of [side, other]) for (const text of ['one', 'two']) each.has('p', text);
    other.has('p', 'unseen');
    const parents = other.journal.heads.at('p');
    const edit = { kind: 'put', text: 'naming', replaced: 'unseen' } as const;
    return { side, naming: other.member.operation('p', edit, { origin: dog, parents }) };
  }

  function receives(side: Side, operation: Operation): void {
    side.member.received(operation);
    side.member.context.facts.received.publish([operation]);
  }

  test('the mark of that number is part of the operation', () => {
    const { side, naming } = named();
    expect(naming.version.vector).toEqual({ [cat]: 3, [dog]: 1 });
    side.has('p', 'unseen');
    expect(Buffer.from(naming.marks ?? []).toString('hex')).toBe(side.journal.log.mark(cat, 3));
  });

  test.each([
    { what: 'at another path', has: (side: Side) => side.has('q', 'three') },
    { what: 'at the same path, with an earlier stamp', has: (side: Side) => side.has('p', 'three') },
    {
      what: 'that was stamped later',
      has: (side: Side) => {
        for (let made = 0; made < 9; made++) side.member.operation('x', { kind: 'mkdir' });
        side.has('p', 'three');
      },
    },
  ])('one $what: the origin is sealed below it, and both entries stay', ({ has }) => {
    const { side, naming } = named();
    has(side);
    const three = [...side.journal.log.operationsOf(cat, 2, 9)];
    receives(side, naming);
    expect(side.journal.seals.all()).toEqual({ [cat]: 2 });
    expect(side.journal.namedMarks.contradictions()).toEqual([]);
    for (const { path, content } of three) expect(side.at(path)).toContain(content);
    expect(side.at('p')).toContain(naming.content);
  });

  test('one that arrives after the naming operation was cut off: an edit made from that one names it too', () => {
    const { side, naming } = named();
    receives(side, naming);
    const edit = { path: 'p', kind: 'delete', parents: [naming] } as const;
    side.member.operationWriter.commit([edit]);
    side.forks.seal({ [dog]: 0 });
    receives(side, side.next('q', 'three'));
    expect(side.journal.seals.all()).toEqual({ [cat]: 2, [dog]: 0 });
  });

  test('one that arrives later', () => {
    const { side, naming } = named();
    const three = side.next('p', 'three');
    receives(side, naming);
    expect(side.journal.seals.all()).toEqual({});
    receives(side, three);
    expect(side.journal.seals.all()).toEqual({ [cat]: 2 });
    expect([...side.at('p')].sort()).toEqual([contentOfText('three').id, contentOfText('naming').id].sort());
  });

  test('the same one changes nothing, whether it was there or arrives', () => {
    for (const isThere of [true, false]) {
      const { side, naming } = named();
      const same = side.next('p', 'unseen');
      for (const operation of isThere ? [same, naming] : [naming, same]) receives(side, operation);
      expect(side.journal.seals.all()).toEqual({});
      expect(side.journal.namedMarks.contradictions()).toEqual([]);
      expect(side.at('p')).toEqual([naming.content]);
    }
  });

  test('after a crash before the seal, the next session begins with it', () => {
    const { side, naming } = named();
    side.has('q', 'three');
    side.member.received(naming);
    expect(side.journal.seals.all()).toEqual({});
    side.forks.sealContradicted();
    expect(side.journal.seals.all()).toEqual({ [cat]: 2 });
  });

  test('a member that is named for a number that it does not know begins a new incarnation', () => {
    const side = new Side(1);
    const { member, journal } = side;
    const { origin } = journal;
    const first = member.operation('p', { kind: 'put', text: 'first' });
    member.received(first);
    const naming = member.operation('p', { kind: 'put', text: 'naming' }, { origin: dog, parents: [first] });
    member.context.facts.received.publish([naming]);
    expect(journal.origin).toBe(origin);
    member.context.facts.received.publish([{ ...naming, version: { vector: { [origin]: 2, [dog]: 1 } } }]);
    expect(journal.origin).not.toBe(origin);
    expect(journal.seals.all()).toEqual({});
    expect(journal.log.known()[origin]).toBe(1);
  });
});
