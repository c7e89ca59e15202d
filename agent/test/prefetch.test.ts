import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { settingsSchema } from '@lockstep/shared/api';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '../../testkit/cluster.ts';
import { eventually } from '../../testkit/eventually.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { startCluster, useCluster } from '../../testkit/vitest/use-cluster.ts';
import { level } from './support/on-demand.ts';

const mebibyte = 1_048_576;

/** Adds a member that fetches contents on demand, once it knows all that `other` has made. */
async function addOnDemand(cluster: Cluster, other: Member, env: Record<string, string> = {}): Promise<Member> {
  const cow = await cluster.add('cow', {
    start: { env: { LOCKSTEP_CONTENT: 'on-demand', LOCKSTEP_CACHE_SIZE: '100 MiB', ...env } },
  });
  await level(cow, other);
  return cow;
}

/** Changes a setting as the page does. */
async function change(member: Member, key: string, value: string): Promise<void> {
  const { version } = settingsSchema.parse(await member.get('/settings'));
  const answer = await member.fetch('/api/v1/settings', {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'if-match': `"${version}"` },
    body: JSON.stringify({ key, value }),
  });
  expect(answer.status).toBe(200);
}

const cacheOf = async (member: Member) => {
  const { cache } = await member.status();
  if (cache === undefined) throw new Error(`${member.name} has the whole folder.`);
  return cache;
};

/** The files in a directory of the folder. */
const filesIn = (member: Member, directory: string): readonly string[] => readdirSync(member.path(directory)).sort();

async function read(member: Member, path: string): Promise<Buffer> {
  const answer = await member.fetch(`api/v1/files/${path}`);
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

/** Makes files of `size` bytes in a directory, and returns their names. */
async function fill(member: Member, directory: string, count: number, size: number): Promise<readonly string[]> {
  await mkdir(member.path(directory));
  const names = Array.from({ length: count }, (_, index) => String(index).padStart(3, '0'));
  for (const name of names) await writeFile(member.path(`${directory}/${name}`), randomBytes(size));
  await member.wait({ for: 'all' });
  return names;
}

describe('a cache with room for everything', () => {
  const cluster = useCluster(['ant']);
  beforeAll(async () => {
    await addOnDemand(cluster(), cluster().member('ant'));
  });

  const both = () => [cluster().member('ant'), cluster().member('cow')] as const;

  test('[OD17] the files of a directory come after the first read, and reads of them are counted', async () => {
    const [ant, cow] = both();
    const names = await fill(ant, 'album', 30, 100_000);
    await fill(ant, 'other', 3, 100_000);
    await level(cow, ant);
    expect(filesIn(cow, 'album')).toEqual([]);
    await read(cow, 'album/010');
    await eventually(async () => expect((await cacheOf(cow)).prefetchedFiles).toBe(29));
    // A file is read, and counted, before it is in place.
    await eventually(() => expect(filesIn(cow, 'album')).toEqual(names));
    expect(filesIn(cow, 'other')).toEqual([]);
    expect(await cacheOf(cow)).toMatchObject({ hits: 0, misses: 1, prefetchHits: 0, prefetchedBytes: 2_900_000 });
    for (const name of ['000', '001', '001', '010']) {
      expect((await read(cow, `album/${name}`)).equals(readFileSync(ant.path(`album/${name}`)))).toBe(true);
    }
    expect(await cacheOf(cow)).toMatchObject({ hits: 4, misses: 1, prefetchHits: 2, fetchedBytes: 3_000_000 });
    const shown = await lockstep(['status', cow.folder]);
    expect(shown.out).toContain('prefetched 29 files with 2.9 MB, 7 % of them read since');
  });

  test('[OD17] the setting ends and begins it at once', async () => {
    const [ant, cow] = both();
    await fill(ant, 'first', 3, 1_000);
    await fill(ant, 'second', 3, 1_000);
    await level(cow, ant);
    await change(cow, 'prefetch', 'false');
    await read(cow, 'first/000');
    await eventually(() => expect(filesIn(cow, 'first')).toEqual(['000']));
    await change(cow, 'prefetch', 'true');
    await read(cow, 'second/000');
    await eventually(() => expect(filesIn(cow, 'second')).toEqual(['000', '001', '002']));
    expect(filesIn(cow, 'first')).toEqual(['000']);
  });

  test('[OD17] files that were read together come together, wherever they are', async () => {
    const [ant, cow] = both();
    for (const directory of ['a', 'b']) await fill(ant, directory, 1, 100_000);
    await level(cow, ant);
    await read(cow, 'a/000');
    await read(cow, 'b/000');
    for (const directory of ['a', 'b']) await writeFile(ant.path(`${directory}/000`), randomBytes(100_000));
    await eventually(() => expect([filesIn(cow, 'a'), filesIn(cow, 'b')]).toEqual([[], []]));
    await read(cow, 'a/000');
    await eventually(() => expect(filesIn(cow, 'b')).toEqual(['000']));
    expect((await read(cow, 'b/000')).equals(readFileSync(ant.path('b/000')))).toBe(true);
  });
});

test('[OD17] what is prefetched waits while a reader waits, and one who asks for it has it next', async () => {
  const cluster = await startCluster(['ant'], { proxied: true });
  const ant = cluster.member('ant');
  const names = await fill(ant, 'album', 64, 100_000);
  await fill(ant, 'other', 1, 5 * mebibyte);
  const cow = await cluster.add('cow', { up: false });
  cluster.shapes('cow', { bytesPerSecond: 1_000_000 });
  await cow.start({ env: { LOCKSTEP_CONTENT: 'on-demand', LOCKSTEP_CACHE_SIZE: '200 MiB' } });
  await level(cow, ant);
  await read(cow, 'album/000');
  await eventually(async () => expect((await cacheOf(cow)).prefetchedFiles).toBeGreaterThan(0));
  const answer = await cow.fetch('api/v1/files/other/000');
  expect(answer.status).toBe(200);
  const reading = answer.body?.getReader();
  await reading?.read();
  // Its first bytes are here, so that the reader waits. The line would bring 40 of the others with the rest.
  const before = (await cacheOf(cow)).prefetchedFiles;
  while ((await reading?.read())?.done === false);
  const after = (await cacheOf(cow)).prefetchedFiles;
  // Those that were on their way when the reader asked have come.
  expect(after - before).toBeLessThanOrEqual(10);
  expect(after).toBeLessThan(63);
  // On a line that brings two of them in a second, the last one would come after half a minute.
  cluster.shapes('cow', { bytesPerSecond: 200_000 });
  await read(cow, 'album/063');
  expect((await cacheOf(cow)).prefetchedFiles).toBeLessThan(62);
  cluster.shapes('cow', { bytesPerSecond: 1_000_000 });
  await eventually(() => expect(filesIn(cow, 'album')).toEqual(names), { timeoutMs: 60_000 });
});

test('[OD17] nothing is dropped for what is prefetched, and that is dropped first', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  await fill(ant, 'album', 20, 200_000);
  for (const directory of ['b', 'c', 'd']) await fill(ant, directory, 1, 3 * mebibyte);
  const cow = await addOnDemand(cluster, ant, { LOCKSTEP_CACHE_SIZE: '9500 KiB' });
  await read(cow, 'b/000');
  await read(cow, 'c/000');
  await read(cow, 'album/000');
  // A sixteenth of the cache.
  await eventually(() => expect(filesIn(cow, 'album')).toEqual(['000', '001', '002', '003']));
  expect((await cacheOf(cow)).droppedFiles).toBe(0);
  await read(cow, 'd/000');
  await eventually(() => expect(filesIn(cow, 'd')).toEqual(['000']));
  expect([filesIn(cow, 'b'), filesIn(cow, 'c')]).toEqual([['000'], ['000']]);
  expect(filesIn(cow, 'album')).toContain('000');
  expect(filesIn(cow, 'album').length).toBeLessThan(4);
});

test('[OD18] after a restart the cache knows what was used', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  // The small one takes a hundred times as long for each byte, however busy the machine is.
  await fill(ant, 'a', 1, 20_000);
  for (const directory of ['b', 'c']) await fill(ant, directory, 1, 2 * mebibyte);
  const cow = await addOnDemand(cluster, ant, { LOCKSTEP_CACHE_SIZE: '3500 KiB' });
  for (const directory of ['a', 'c']) {
    await read(cow, `${directory}/000`);
    await eventually(() => expect(filesIn(cow, directory)).toEqual(['000']));
    await read(cow, `${directory}/000`);
  }
  await cow.restart();
  await level(cow, ant);
  await read(cow, 'b/000');
  // Of files of which no use is known, the first one is dropped first.
  await eventually(() => expect(filesIn(cow, 'b')).toEqual(['000']));
  expect([filesIn(cow, 'a'), filesIn(cow, 'c')]).toEqual([['000'], []]);
});

test('[OD18] with more room again, what was used last comes back', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  const directories = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const directory of directories) await fill(ant, directory, 1, 2 * mebibyte);
  const cow = await addOnDemand(cluster, ant, { LOCKSTEP_CACHE_SIZE: '' });
  await change(cow, 'cache_size', '20 MiB');
  for (const directory of [...directories].reverse()) await read(cow, `${directory}/000`);
  await change(cow, 'cache_size', '1 MiB');
  const here = () => directories.filter((directory) => filesIn(cow, directory).length > 0);
  await eventually(() => expect(here()).toEqual([]), { timeoutMs: 60_000 });
  await change(cow, 'cache_size', '7 MiB');
  await eventually(() => expect(here()).toEqual(['a', 'b', 'c']));
  await change(cow, 'cache_size', '20 MiB');
  await eventually(() => expect(here()).toEqual(directories));
  expect((await cacheOf(cow)).misses).toBe(directories.length);
});

test('[OD17] [OD18] of a large file that comes back, little arrives while a reader waits', async () => {
  const cluster = await startCluster(['ant'], { proxied: true });
  const ant = cluster.member('ant');
  await fill(ant, 'film', 1, 64 * mebibyte);
  await fill(ant, 'other', 1, 10 * mebibyte);
  const cow = await cluster.add('cow', { up: false });
  cluster.shapes('cow', { bytesPerSecond: 10_000_000 });
  await cow.start({ env: { LOCKSTEP_CONTENT: 'on-demand' } });
  await level(cow, ant);
  await read(cow, 'film/000');
  await eventually(() => expect(filesIn(cow, 'film')).toEqual(['000']));
  await change(cow, 'cache_size', '1 MiB');
  await eventually(() => expect(filesIn(cow, 'film')).toEqual([]));
  await change(cow, 'cache_size', '200 MiB');
  const received = () => cow.metric('lockstep_peer_received_bytes_total');
  const before = await received();
  await eventually(async () => expect(await received()).toBeGreaterThan(before + 2 * mebibyte));
  const asked = await received();
  await read(cow, 'other/000');
  // As much as of the other one would come of it, if it did not give way.
  expect((await received()) - asked).toBeLessThan(15 * mebibyte);
  expect(filesIn(cow, 'film')).toEqual([]);
  await eventually(() => expect(filesIn(cow, 'film')).toEqual(['000']), { timeoutMs: 60_000 });
});

test('[OD19] an empty folder at the start is a lost cache: nothing is deleted, and what was used last comes back', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  const directories = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const directory of directories) await fill(ant, directory, 1, 300_000);
  await fill(ant, 'unused', 3, 1_000);
  const cow = await addOnDemand(cluster, ant, { LOCKSTEP_CACHE_SIZE: '1 MiB', LOCKSTEP_PREFETCH: 'false' });
  for (const directory of directories) await read(cow, `${directory}/000`);
  await eventually(() => expect(filesIn(cow, 'f')).toEqual(['000']));
  const { files } = await ant.status();
  await cow.stop();
  for (const name of readdirSync(cow.folder)) {
    if (name !== '.lockstep') await rm(cow.path(name), { recursive: true });
  }
  await mkdir(cow.path('lost+found'));
  await cow.start({ env: { LOCKSTEP_PREFETCH: 'true' } });
  const here = () => directories.filter((directory) => filesIn(cow, directory).length > 0);
  await eventually(() => expect(here()).toEqual(['d', 'e', 'f']));
  expect(filesIn(cow, 'unused')).toEqual([]);
  for (const directory of [...directories, 'unused']) {
    for (const name of filesIn(ant, directory)) {
      const path = `${directory}/${name}`;
      expect((await read(cow, path)).equals(readFileSync(ant.path(path)))).toBe(true);
    }
  }
  expect((await cow.get('/events?after=0&limit=1000')) as object).toMatchObject({
    events: expect.arrayContaining([expect.objectContaining({ kind: 'cache-lost', data: { files: 3 } })]),
  });
  await level(ant, cow);
  expect((await ant.status()).files).toBe(files);
});

test('[OD19] `.lockstep` alone on a new disk is a lost cache, and a delete while the agent runs is one', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  await fill(ant, 'a', 1, 1_000);
  await fill(ant, 'b', 1, 1_000);
  const cow = await addOnDemand(cluster, ant);
  for (const path of ['a/000', 'b/000']) await read(cow, path);
  // A small file is answered before it is in place.
  await eventually(() => expect([filesIn(cow, 'a'), filesIn(cow, 'b')]).toEqual([['000'], ['000']]));
  await cow.stop();
  const old = `${cow.folder}-old`;
  await rename(cow.folder, old);
  await mkdir(cow.folder);
  await cp(`${old}/.lockstep`, cow.state(''), { recursive: true, preserveTimestamps: true });
  await rm(old, { recursive: true });
  await cow.start({ args: ['--adopt'] });
  await eventually(() => expect([filesIn(cow, 'a'), filesIn(cow, 'b')]).toEqual([['000'], ['000']]));
  expect([filesIn(ant, 'a'), filesIn(ant, 'b')]).toEqual([['000'], ['000']]);
  await rm(cow.path('a'), { recursive: true });
  await eventually(() => expect(readdirSync(ant.folder).sort()).toEqual(['.lockstep', 'b']));
});
