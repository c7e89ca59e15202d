import { freeBytesMin } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { virtualContent } from '../../sim/disk/content.ts';

const mebibyte = 1_048_576;
const minuteMs = 60_000;

/** A member on demand with files of 1 MiB, which bee has too. Without them its disk has `others` MiB free. */
async function onSmallDisk(others: number, files = 40) {
  const bee = new ScriptedPeer('b');
  bee.answer = (message) => {
    if (message.type === 'want') bee.say({ type: 'missing', id: message.id, lacks: false, shows: true });
  };
  const { engine, volume, until } = openTestMember([bee], { onDemand: true });
  const paths = Array.from({ length: files }, (_, index) => `song-${index}`);
  for (const path of paths) volume.disk.write(path, virtualContent(path, mebibyte));
  const here = (): number => paths.filter((path) => volume.disk.at(path) !== undefined).length;
  const disk = { others };
  const room = () => ({ freeBytes: (disk.others - here()) * mebibyte, totalBytes: 200 * mebibyte });
  engine.context.folder.health = () => Promise.resolve({ ok: true, room: room() });
  void engine.start();
  engine.cache.room.limit({ bytes: 1_000 * mebibyte });
  await until(() => engine.context.journal.totals.counts().disk.files === files, minuteMs);
  // The disk is measured each second.
  await until(() => false, 5_000);
  return { engine, here, disk, room, until };
}

test('[OD27] a disk that something else fills is given room by the files that other members have', async () => {
  const { engine, here, disk, room, until } = await onSmallDisk(60);
  await until(() => false, minuteMs);
  expect(here()).toBe(40);
  // Another program leaves 10 MiB.
  disk.others = 50;
  expect(await until(() => room().freeBytes >= 2 * freeBytesMin, minuteMs)).toBe(true);
  await until(() => false, 10 * minuteMs);
  expect(here()).toBe(50 - (2 * freeBytesMin) / mebibyte);
  expect(engine.context.problems.list()).toEqual([]);
});

test('[OD27] a disk that something else fills without end is given room without growing pauses', async () => {
  const { engine, here, disk, room, until } = await onSmallDisk(300, 200);
  engine.context.folder.health = () => {
    // Another program has taken what was freed.
    disk.others = here() + 10;
    return Promise.resolve({ ok: true, room: room() });
  };
  expect(await until(() => here() === 0, 30_000)).toBe(true);
});

test('[OD27] a file that is read makes room for itself on a disk that is nearly full', async () => {
  const { engine, here, until } = await onSmallDisk(60);
  const outcome: unknown[] = [];
  void engine.cache.reserve('film', 20 * mebibyte).then((reserved) => outcome.push(reserved));
  expect(await until(() => outcome.length > 0, minuteMs)).toBe(true);
  expect(outcome).toEqual([{ end: expect.any(Function) }]);
  expect(here()).toBeLessThanOrEqual(60 - 20 - freeBytesMin / mebibyte);
  expect(here()).toBeGreaterThan(0);
});

test('[OD27] what is reserved for files that are coming is no room for others', async () => {
  const { engine, here, until } = await onSmallDisk(60);
  const outcome: unknown[] = [];
  const read = (path: string, mebibytes: number): void => {
    void engine.cache.reserve(path, mebibytes * mebibyte).then((reserved) => outcome.push(reserved));
  };
  read('film', 20);
  expect(await until(() => outcome.length === 1, minuteMs)).toBe(true);
  await until(() => false, 5_000);
  read('show', 22);
  expect(await until(() => outcome.length === 2, minuteMs)).toBe(true);
  expect(outcome).toEqual([{ end: expect.any(Function) }, { end: expect.any(Function) }]);
  expect(here()).toBeLessThanOrEqual(60 - 20 - 22 - freeBytesMin / mebibyte);
});

test.each([false, true])(
  '[OD27] a file that finds its room taken is fetched once other files were dropped (late: %s)',
  async (waits) => {
    const { engine, here, disk, room, until } = await onSmallDisk(50);
    expect(await until(() => room().freeBytes >= 2 * freeBytesMin, minuteMs)).toBe(true);
    const { arrival } = engine.onDemand;
    const [remote] = engine.context.journal.disk.remoteBelow('', undefined, 1);
    const free: number[] = [];
    const failure = { isHere: false, code: 'disk-full', reason: 'There is no room.' } as const;
    arrival.untilHere = (path) => {
      if (path === remote?.path) free.push(room().freeBytes);
      if (path !== remote?.path || free.length > 1) return Promise.resolve(undefined);
      disk.others = here() + 10;
      if (!waits) return Promise.resolve(failure);
      // The disk is measured, and files are dropped, before the fetch fails.
      return new Promise((resolve) => engine.context.clock.after(3_000, () => resolve(failure)));
    };
    const outcome: unknown[] = [];
    void engine.onDemand.fetch(remote?.path ?? '').then((fetched) => outcome.push(fetched));
    expect(await until(() => outcome.length > 0, 5_000)).toBe(true);
    expect(outcome).toEqual([{ isHere: true }]);
    expect(free).toHaveLength(2);
    expect(free[1]).toBeGreaterThan(freeBytesMin);
    expect(engine.context.problems.has('disk-full')).toBe(false);
  },
);

test('[OD27] a file for which the disk has no room at all is refused with the reason', async () => {
  const { engine, here, until } = await onSmallDisk(60);
  const outcome: unknown[] = [];
  void engine.cache.reserve('film', 50 * mebibyte).then((reserved) => outcome.push(reserved));
  expect(await until(() => outcome.length > 0, minuteMs)).toBe(true);
  expect(outcome).toEqual([{ reason: expect.stringContaining('The disk of the folder has no room for film') }]);
  expect(here()).toBe(40);
});

test('[OD27] a disk without inodes keeps the files that are here', async () => {
  const { engine, here, room, until } = await onSmallDisk(90);
  engine.context.folder.health = () =>
    Promise.resolve({ ok: true, room: { ...room(), inodes: { free: 1, total: 5_000 } } });
  await until(() => false, minuteMs);
  expect(here()).toBe(40);
  expect(engine.context.problems.list()).toMatchObject([{ code: 'disk-full' }]);
});
