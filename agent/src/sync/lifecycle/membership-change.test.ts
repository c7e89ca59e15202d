import { type MemberId, memberPath } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import type { Peer } from '../members/peer.ts';
import type { Link } from '../ports/network.ts';
import { untilSent } from './membership-change.ts';

/** A member with a session with each of the named ones. `send` ends what waits in the link of one. */
function memberWith(...names: readonly string[]) {
  const lone = new LoneMember();
  const waiting = new Map<string, () => void>();
  const peers = new Map<string, Peer>();
  for (const name of names) {
    const id = name as MemberId;
    const record = { id, name, addresses: [], membership: 'joined' } as const;
    lone.received({ ...lone.operation(memberPath(id), { kind: 'member' }), member: record });
    lone.peers.learn();
    const peer = lone.peers.get(id) as Peer;
    peer.hello = { addresses: [] } as unknown as Peer['hello'];
    peer.link = { peer: id, whenSent: (run) => waiting.set(name, run) } as Partial<Link> as Link;
    peers.set(name, peer);
  }
  let isOver = false;
  void untilSent(lone.context, lone.peers).then(() => {
    isOver = true;
  });
  return {
    lone,
    send: (name: string): void => waiting.get(name)?.(),
    end: (name: string): void => {
      Object.assign(peers.get(name) as Peer, { link: undefined });
      lone.context.facts.linkEnded.publish();
    },
    isOver: async (afterMs = 0): Promise<boolean> => {
      await lone.passes(afterMs);
      return isOver;
    },
  };
}

test('an agent that stops waits until its last messages have left on each link, or the link has ended', async () => {
  const { send, end, isOver } = memberWith('bee', 'cat', 'dog');
  send('bee');
  send('cat');
  expect(await isOver(100)).toBe(false);
  end('dog');
  expect(await isOver()).toBe(true);
});

test('without a session there is nothing to wait for', async () => {
  expect(await memberWith().isOver()).toBe(true);
});

test('it does not wait for long for a member that does not read', async () => {
  const { isOver } = memberWith('bee');
  expect(await isOver(150)).toBe(false);
  expect(await isOver(100)).toBe(true);
});
