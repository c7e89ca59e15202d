import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { ant, beeMember, put } from '../../store/fixtures.contract.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import { DeliveryMeter } from './delivery-meter.ts';

test('a file that was journaled empty and then with its content counts as one file', () => {
  const { context, journal } = new LoneMember();
  const { made, acknowledged } = context.facts;
  const peer = { id: beeMember, applied: { vector: { [ant]: 2 }, ranges: {} } };
  const peers = { ready: () => [peer as unknown as Peer] } as unknown as Peers;
  new DeliveryMeter(context, peers, () => false);
  const reported = () => journal.events.after(0, 10).filter(({ kind }) => kind === 'delivered');
  made.publish([put(ant, 1, 'note', { size: 0 }), put(ant, 2, 'note', { size: 5 }), put(ant, 3, 'other', { size: 1 })]);
  acknowledged.publish();
  expect(reported()).toEqual([]);
  peer.applied = { vector: { [ant]: 3 }, ranges: {} };
  acknowledged.publish();
  expect(reported()).toMatchObject([{ data: { operations: 3, files: 2, bytes: 6, path: 'note', members: 1 } }]);
});
