import { expect, test } from 'vitest';
import { ant, beeMember, put } from '../../store/fixtures.contract.ts';
import type { Peer } from '../members/peers.ts';
import { type Delivered, DeliveryMeter } from './delivery-meter.ts';

test('a file that was looked at between its making and its filling is one file', () => {
  const clock = { monotonicMs: () => 0 } as ConstructorParameters<typeof DeliveryMeter>[0];
  const told: Delivered[] = [];
  const meter = new DeliveryMeter(clock, (delivered) => told.push(delivered));
  meter.committed([
    put(ant, 1, 'note', { size: 0 }),
    put(ant, 2, 'note', { size: 5 }),
    put(ant, 3, 'other', { size: 1 }),
  ]);
  const peer = (seq: number) => ({ id: beeMember, applied: { vector: { [ant]: seq }, ranges: {} } }) as unknown as Peer;
  meter.acknowledged([peer(2)], false);
  expect(told).toEqual([]);
  meter.acknowledged([peer(3)], false);
  expect(told).toMatchObject([{ operations: 3, files: 2, bytes: 6, path: 'note', members: 1 }]);
});
