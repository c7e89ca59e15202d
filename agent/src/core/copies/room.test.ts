import { expect, test } from 'vitest';
import { type CopiesLoad, nextRoom } from './room.ts';

const gigabyte = 1e9;
const room = (load: Partial<CopiesLoad>): number => {
  return nextRoom({
    room: undefined,
    bytesMax: gigabyte,
    roomBytes: Number.POSITIVE_INFINITY,
    placedBytes: 0,
    areOthersFull: false,
    fellLately: false,
    ...load,
  });
};

test('[CP4] a member first tells the size of its cache, less what it keeps for reading', () => {
  expect(room({})).toBe(0.9 * gigabyte);
});

test('[CP4] it tells the same while what is placed there fits, and little changes are not told', () => {
  for (const placedBytes of [0.71, 0.8, 0.94].map((share) => share * gigabyte)) {
    expect(room({ room: 0.5 * gigabyte, placedBytes })).toBe(0.5 * gigabyte);
  }
  expect(room({ bytesMax: 123_456_789 })).toBe(110_000_000);
});

test('[CP4] a full one tells less, so that the others take what is over, and more again when it has room', () => {
  expect(room({ room: 0.9 * gigabyte, placedBytes: 2 * gigabyte })).toBe(0.4 * gigabyte);
  expect(room({ room: 0.4 * gigabyte, placedBytes: 0.2 * gigabyte })).toBe(0.9 * gigabyte);
  expect(room({ room: 0.4 * gigabyte, placedBytes: 0.5 * gigabyte })).toBe(0.68 * gigabyte);
});

test('[CP4] one whose disk is filled by other programs tells less only if what is placed there does not fit', () => {
  const told = { room: 0.9 * gigabyte, roomBytes: 0.5 * gigabyte };
  expect(room({ ...told, room: undefined })).toBe(0.45 * gigabyte);
  expect(room({ ...told, placedBytes: 0.4 * gigabyte })).toBe(0.9 * gigabyte);
  expect(room({ ...told, placedBytes: 0.8 * gigabyte })).toBe(0.45 * gigabyte);
  expect(room({ ...told, room: 0.1 * gigabyte, placedBytes: 0.1 * gigabyte })).toBe(0.42 * gigabyte);
});

test('[CP4] it tells more only some time after it told less: what went would come back', () => {
  expect(room({ room: 0.4 * gigabyte, placedBytes: 0.2 * gigabyte, fellLately: true })).toBe(0.4 * gigabyte);
});

test('[CP4] if all are full, the rooms stay as they are', () => {
  expect(room({ room: 0.9 * gigabyte, placedBytes: 5 * gigabyte, areOthersFull: true })).toBe(0.9 * gigabyte);
});

test('[CP4] a room does not fall without end', () => {
  let told = 0.9 * gigabyte;
  for (let change = 0; change < 20; change++) told = room({ room: told, placedBytes: 5 * gigabyte });
  expect(told).toBe(62_000_000);
  expect(room({ room: told, placedBytes: 5 * gigabyte })).toBe(told);
});

test('[CP4] a smaller cache is told', () => {
  expect(room({ room: 9 * gigabyte })).toBe(0.9 * gigabyte);
});
