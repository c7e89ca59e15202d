import { type HelloMessage, type MemberId, type OriginId, originId, type PeerMessage } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { Forks } from '../members/forks.ts';
import { OwnOrigin } from '../members/own-origin.ts';
import { Peers } from '../members/peers.ts';
import type { Link, LinkReceiver } from '../ports/network.ts';
import { differingReason } from '../state/session-failures.ts';
import { type Describable, helloMessage } from './self-description.ts';
import { type SessionLoops, Sessions } from './sessions.ts';

const origins = ['cat', 'dog'].map((name) => originId(name.padEnd(52, '2') as MemberId, 'aaaaaaaa'));
const [cat, dog] = origins as [OriginId, OriginId];

/** One member with its sessions and its repair of forks. */
class Side {
  readonly member: LoneMember;
  readonly peers: Peers;
  /** Sessions that began: operations may be exchanged in them. */
  begun = 0;

  constructor(seed: number) {
    this.member = new LoneMember((folder) => folder, { seed });
    const { context, operationWriter } = this.member;
    const ownOrigin = new OwnOrigin(context, () => this.peers.closeAll('this member begins a new incarnation'));
    this.peers = new Peers(context, {
      message: (peer, link, message) => sessions.message(peer, link, message),
      closed: (peer, link, reason) => sessions.close(peer, link, reason),
      helloMessage: () => this.hello(),
    });
    const forks = new Forks(context, { peers: this.peers, operationWriter, ownOrigin });
    const ready = (): void => {
      this.begun += 1;
    };
    const idle = { closed: () => undefined, ready };
    const loops = { peers: this.peers, forks, ownOrigin, incoming: idle, catchUp: idle, transfers: { exchange: idle } };
    const sessions = new Sessions(context, loops as unknown as SessionLoops);
  }

  get journal() {
    return this.member.journal;
  }

  hello(): HelloMessage {
    return helloMessage({
      context: this.member.context,
      lifecycle: { state: 'active', enabledAt: undefined },
    } as unknown as Describable);
  }

  /** Adds the next operation of an origin. */
  has(origin: OriginId, path: string): void {
    this.member.received(
      this.member.operation(path, { kind: 'put', text: `${path} of ${this.member.id}` }, { origin }),
    );
  }
}

/** One end of a session. Messages wait until they are delivered, and a closed end delivers none. */
class End {
  readonly queue: (PeerMessage | { readonly end: string })[] = [];
  other: End | undefined;
  reason: string | undefined;
  #receiver: LinkReceiver | undefined;
  readonly link: Link;

  constructor(peer: MemberId, dialled: boolean) {
    const link: Partial<Link> = {
      peer,
      dialled,
      remote: 'test',
      start: (receiver) => {
        this.#receiver = receiver;
      },
      send: (message) => {
        if (this.reason === undefined) this.other?.queue.push(message);
      },
      close: (reason) => this.#end(reason, true),
      receivedBytes: () => 0,
      partialBlockBytes: () => 0,
      queuedBytes: () => 0,
      whenDrained: () => undefined,
    };
    this.link = link as Link;
  }

  deliver(): boolean {
    const message = this.queue.shift();
    if (message === undefined) return false;
    if (this.reason !== undefined) return true;
    if ('end' in message) this.#end(message.end, false);
    else this.#receiver?.message(message);
    return true;
  }

  #end(reason: string, isSaid: boolean): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    if (isSaid) this.other?.queue.push({ end: reason });
    this.#receiver?.closed(reason, false);
  }
}

/** One session between the two sides. Returns the reasons for its end. */
function meet([one, two]: readonly [Side, Side]): readonly (string | undefined)[] {
  const [a, b] = [new End(two.member.id, true), new End(one.member.id, false)];
  [a.other, b.other] = [b, a];
  one.peers.accept(a.link);
  two.peers.accept(b.link);
  for (let count = 0; count < 1_000; count++) {
    const hadAny = [a.deliver(), b.deliver()];
    if (!hadAny.includes(true)) break;
  }
  return [a.reason, b.reason];
}

/** Both sides have the same operation of each origin, and then an operation of their own under the same number. */
function forked(of: readonly OriginId[]): readonly [Side, Side] {
  const sides = [new Side(1), new Side(2)] as const;
  const shared = of.map((origin) => sides[0].member.operation('shared', { kind: 'delete' }, { origin }));
  sides[0].member.received(...shared);
  for (const origin of of) sides[1].member.operation('shared', { kind: 'delete' }, { origin });
  sides[1].member.received(...shared);
  for (const side of sides) for (const origin of of) side.has(origin, `branch-${origin.slice(0, 3)}`);
  return sides;
}

function expectRepaired(sides: readonly [Side, Side], of: readonly OriginId[]): void {
  expect(meet(sides).map((reason) => reason === undefined)).toEqual([false, false]);
  for (const { journal } of sides) for (const origin of of) expect(journal.seals.all()).toMatchObject({ [origin]: 1 });
  // The next session is an ordinary one.
  expect(meet(sides)).toEqual([undefined, undefined]);
  expect(sides.map(({ begun }) => begun)).toEqual([1, 1]);
}

test('[FK3] a fork that both sides find in the hello is sealed in that session', () => {
  expectRepaired(forked([cat]), [cat]);
});

test('[FK3] a fork is sealed in the session that finds it, also if both sides already know another seal', () => {
  const sides = forked([cat]);
  for (const { journal } of sides) journal.seal(dog, 7);
  expectRepaired(sides, [cat]);
});

test('[FK3] all forks between two members are sealed in one session', () => {
  expectRepaired(forked([cat, dog]), [cat, dog]);
});

// Simulator, seed 235321: others took what a member repeated for the next operations of the branch that its set-back had cost it.
describe('[FK2] a peer knows a number that this member has lost', () => {
  function lost(): { readonly side: Side; readonly end: End; readonly origin: OriginId; readonly hello: HelloMessage } {
    const [side] = forked([cat]);
    const { origin } = side.journal;
    side.has(origin, 'own');
    const end = new End('other'.padEnd(52, '2') as MemberId, true);
    side.peers.accept(end.link);
    return { side, end, origin, hello: side.hello() };
  }

  function expectRenewed({ journal }: Side, origin: OriginId): void {
    expect(journal.origin).not.toBe(origin);
    expect(journal.log.known()[origin]).toBe(1);
  }

  test('what a seal in its hello repeats here takes none', () => {
    const { side, end, origin, hello } = lost();
    end.queue.push({ ...hello, known: { ...hello.known, [origin]: 2 }, sealed: { [cat]: 1 } });
    end.deliver();
    expectRenewed(side, origin);
  });

  test('it may have learned it since its hello', () => {
    const { side, end, origin, hello } = lost();
    const { marks, applied } = hello;
    end.queue.push(hello, { type: 'ack', known: { ...hello.known, [origin]: 2 }, marks, applied });
    end.queue.push({ type: 'sealed', origins: { [cat]: 1 } });
    while (end.deliver());
    expectRenewed(side, origin);
  });
});

test('[SY20] a repair without an end ends the session, so that repeated ones are reported', async () => {
  const [side] = forked([cat]);
  const end = new End('other'.padEnd(52, '2') as MemberId, true);
  side.peers.accept(end.link);
  const hello = { ...side.hello(), marks: new Uint8Array(16) };
  const heartbeat = { ...hello, type: 'heartbeat' } as unknown as PeerMessage;
  end.queue.push(hello, { type: 'sealed', origins: {} }, heartbeat);
  while (end.deliver());
  expect(end.reason).toBeUndefined();
  await side.member.passes(5_000);
  end.queue.push(heartbeat);
  end.deliver();
  expect(end.reason).toBe(differingReason);
});
