import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { ant, beeMember, put } from '../../store/fixtures.contract.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import { DeliveryMeter } from './delivery-meter.ts';

/** A meter of a member with one peer, which holds what it is given. */
function openMeter(isBusy: () => boolean = () => false) {
  const member = new LoneMember();
  const { facts } = member.context;
  const peer = { id: beeMember, applied: { vector: {}, ranges: {} } };
  const peers = { ready: () => [peer as unknown as Peer] } as unknown as Peers;
  new DeliveryMeter(member.context, peers, isBusy);
  const holdsUpTo = (seq: number): void => {
    Object.assign(peer, { applied: { vector: { [ant]: seq }, ranges: {} } });
    facts.acknowledged.publish();
  };
  const reported = () => member.journal.events.after(0, 10).filter(({ kind }) => kind === 'delivered');
  return { member, facts, holdsUpTo, reported };
}

test('a file that was journaled empty and then with its content counts as one file', () => {
  const { facts, holdsUpTo, reported } = openMeter();
  facts.made.publish([
    put(ant, 1, 'note', { size: 0 }),
    put(ant, 2, 'note', { size: 5 }),
    put(ant, 3, 'other', { size: 1 }),
  ]);
  holdsUpTo(2);
  expect(reported()).toEqual([]);
  holdsUpTo(3);
  expect(reported()).toMatchObject([{ data: { operations: 3, files: 2, bytes: 6, path: 'note', members: 1 } }]);
});

test('[API2] a burst is reported, with its own time, also if the last acknowledgement comes while the agent looks for more changes', async () => {
  let isBusy = true;
  const { member, facts, holdsUpTo, reported } = openMeter(() => isBusy);
  facts.made.publish([put(ant, 1, 'note', { size: 5 })]);
  await member.passes(30);
  holdsUpTo(1);
  await member.passes(1_000);
  facts.second.publish();
  expect(reported()).toEqual([]);
  isBusy = false;
  facts.second.publish();
  expect(reported()).toMatchObject([{ data: { operations: 1, ms: 30 } }]);
});

test('[API2] a burst that lasts is reported in parts, as in a folder where a log is written without end', async () => {
  const { member, facts, holdsUpTo, reported } = openMeter(() => true);
  for (let seq = 1; seq <= 70; seq++) {
    facts.made.publish([put(ant, seq, 'log', { size: 5 })]);
    holdsUpTo(seq);
    await member.passes(1_000);
  }
  expect(reported()).toMatchObject([{ data: { operations: 61, files: 1, ms: 60_000 } }]);
});
