import { LockstepError, type MemberId, memberPath } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import type { Peer } from '../members/peer.ts';
import type { Network } from '../ports/network.ts';
import { Dialer, noteRefused } from './dialer.ts';

test('[MB3] refusals of a member end when a session with it opens, whichever side dialled', async () => {
  const ant = new LoneMember();
  const bee = 'bee' as MemberId;
  const address = '192.0.2.7:4700';
  const network = {
    dial: () => Promise.reject(new LockstepError('cluster-mismatch', 'the cluster keys differ')),
  } as unknown as Network;
  const dialer = new Dialer(ant.context, { peers: ant.peers, network, fixed: [address] });
  dialer.start();
  noteRefused(ant.context, '192.0.2.7:50990', 'the cluster keys differ');
  noteRefused(ant.context, '192.0.2.8:50990', 'the cluster keys differ');
  const refused = () => ant.context.problems.list().map(({ code, member }) => [code, member]);
  await ant.passes(100);
  expect(refused()).toEqual([
    ['member-refused', '192.0.2.7'],
    ['member-refused', '192.0.2.8'],
    ['member-refused', address],
  ]);
  expect(dialer.isRefused()).toBe(true);

  const record = { id: bee, name: 'bee', addresses: [address], membership: 'joined' } as const;
  ant.received({ ...ant.operation(memberPath(bee), { kind: 'member' }), member: record });
  ant.peers.learn();
  const peer = ant.peers.get(bee) as Peer;
  peer.hello = { addresses: [address] } as unknown as Peer['hello'];
  peer.link = { remote: '192.0.2.7:50992' } as unknown as Peer['link'];
  ant.context.facts.sessionOpened.publish(bee);
  expect(refused()).toEqual([['member-refused', '192.0.2.8']]);
  expect(dialer.isRefused()).toBe(false);
  dialer.stop();
});
