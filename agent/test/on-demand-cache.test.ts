import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { transfersSchema } from '@lockstep/shared/api';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';
import { addOnDemand, level, namesIn, put } from './support/on-demand.ts';

const mebibyte = 1_048_576;
const run = promisify(execFile);

test('[OD5] [OD6] the cache is never larger than its room, and what is dropped can be read again', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  const contents = new Map<string, Buffer>();
  for (let index = 0; index < 12; index++) {
    const bytes = randomBytes(mebibyte);
    contents.set(`file-${index}`, bytes);
    await writeFile(ant.path(`file-${index}`), bytes);
  }
  const cow = await addOnDemand(cluster, 'cow', '4 MiB');
  await level(cow, ant);
  for (const [path, bytes] of [...contents, ...contents]) {
    const answer = await cow.fetch(`api/v1/files/${path}`);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    expect(namesIn(cow).length).toBeLessThanOrEqual(4);
  }
  await level(cow, ant);
  // Nothing was taken for a delete.
  expect(namesIn(ant)).toHaveLength(12);
});

test('[OD5] many reads at once do not exceed the room', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  const names = Array.from({ length: 120 }, (_, index) => `file-${index}`);
  for (const name of names) await writeFile(ant.path(name), randomBytes(100_000));
  const cow = await addOnDemand(cluster, 'cow', '1 MiB');
  await level(cow, ant);
  let most = 0;
  const waiting = [...names];
  await Promise.all(
    Array.from({ length: 30 }, async () => {
      for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
        await (await cow.fetch(`api/v1/files/${name}`)).arrayBuffer();
        most = Math.max(most, (await cow.status()).cache?.usedBytes ?? 0);
      }
    }),
  );
  expect(most).toBeLessThanOrEqual(mebibyte);
});

test('[OD5] a cache that is full of what must stay refuses with a sentence', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  for (const name of ['a', 'b']) await writeFile(ant.path(name), randomBytes(mebibyte));
  await writeFile(ant.path('huge'), randomBytes(4 * mebibyte));
  const cow = await addOnDemand(cluster, 'cow', '2 MiB');
  await level(cow, ant);
  for (const name of ['a', 'b']) expect((await lockstep(['pin', cow.path(name)])).code).toBe(0);
  await eventually(() => expect(namesIn(cow)).toEqual(['a', 'b']));
  const answer = await cow.fetch('api/v1/files/huge');
  expect(answer.status).toBe(507);
  expect(await answer.text()).toContain('huge has 4194304 bytes, and the whole cache has room for 2097152');
  const refused = await put(cow, 'new', 'x'.repeat(1_000));
  expect(refused.status).toBe(507);
  expect(await refused.text()).toContain(
    'Raise cache_size, connect those that are away, unpin something, or ask for fewer copies.',
  );
  expect(namesIn(ant)).toEqual(['a', 'b', 'huge']);
});

test('[OD10] a file that a program has open for writing is not dropped, until the program closes it', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  for (const name of ['a', 'b', 'c']) await writeFile(ant.path(name), randomBytes(mebibyte));
  const cow = await addOnDemand(cluster, 'cow', '2 MiB');
  await level(cow, ant);
  const read = async (name: string) => (await cow.fetch(`api/v1/files/${name}`)).arrayBuffer();
  const log = cow.path('log \u00e9');
  await writeFile(log, randomBytes(mebibyte / 2));
  await level(cow, ant);
  const file = await open(log, 'a');
  try {
    for (const name of ['a', 'b', 'c', 'a']) await read(name);
    expect(namesIn(cow)).toContain('log \u00e9');
    await file.write('the end');
  } finally {
    await file.close();
  }
  await eventually(async () =>
    expect((await readFile(ant.path('log \u00e9'))).subarray(-7).toString()).toBe('the end'),
  );
  await level(cow, ant);
  // How soon depends on how long its content would take to fetch again, by the measured rates.
  await eventually(async () => {
    for (const name of ['a', 'b', 'c']) await read(name);
    expect(namesIn(cow)).not.toContain('log \u00e9');
  });
});

test('[OD5] an upload of unknown size is counted too', async () => {
  const cluster = await startCluster(['ant']);
  const cow = await addOnDemand(cluster, 'cow', '2 MiB');
  await cluster.member('ant').kill();
  const body = new ReadableStream({
    start(controller) {
      for (let index = 0; index < 4; index++) controller.enqueue(randomBytes(mebibyte));
      controller.close();
    },
  });
  const answer = await cow.fetch('api/v1/files/large', { method: 'PUT', body, duplex: 'half' } as RequestInit);
  expect(answer.status).toBe(507);
  expect(await answer.text()).toContain('raise cache_size');
  expect(namesIn(cow)).toEqual([]);
});

test('[OD5] a full cache refuses at once, also after an upload of unknown size', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  for (const name of ['a', 'b']) await writeFile(ant.path(name), randomBytes(mebibyte));
  const cow = await addOnDemand(cluster, 'cow', '2 MiB');
  await level(cow, ant);
  const body = new Blob(['of any size']).stream();
  const answer = await cow.fetch('api/v1/files/streamed', { method: 'PUT', body, duplex: 'half' } as RequestInit);
  expect(answer.status).toBe(201);
  await level(cow, ant);
  // The pinned files take the whole cache: the streamed file makes room for them.
  for (const name of ['a', 'b']) expect((await lockstep(['pin', cow.path(name)])).code).toBe(0);
  await eventually(() => expect(namesIn(cow)).toEqual(['a', 'b']));
  expect((await put(cow, 'new', 'x')).status).toBe(507);
  expect((await cow.fetch('api/v1/files/streamed')).status).toBe(507);
});

test('[OD5] readers of different files in a small cache wait for each other', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const name of names) await writeFile(ant.path(name), randomBytes(3 * mebibyte));
  const cow = await addOnDemand(cluster, 'cow', '4 MiB');
  await level(cow, ant);
  const answers = await Promise.all(
    names.map(async (name) => Buffer.from(await (await cow.fetch(`api/v1/files/${name}`)).arrayBuffer())),
  );
  for (const [index, bytes] of answers.entries()) {
    expect(bytes.equals(readFileSync(ant.path(names[index] ?? '')))).toBe(true);
  }
});

test.skipIf(process.getuid?.() !== 0)(
  '[OD5] files on another disk inside the folder stay, and others are dropped (needs root)',
  async () => {
    const cluster = await startCluster(['ant']);
    const ant = cluster.member('ant');
    const cow = await addOnDemand(cluster, 'cow', '4 MiB');
    await mkdir(cow.path('disk'));
    await run('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', cow.path('disk')]);
    onTestFinished(async () => void (await run('umount', ['-l', cow.path('disk')])));
    for (const name of ['disk/a', 'disk/b', 'c', 'd', 'e']) await writeFile(cow.path(name), randomBytes(mebibyte));
    // The disk may be tried first: its two files stay. Of the others go two, or one if only that could be dropped at the time.
    await eventually(() => expect(namesIn(cow).length).toBeLessThanOrEqual(1 + 2 + 2));
    expect(namesIn(cow)).toEqual(expect.arrayContaining(['disk', 'disk/a', 'disk/b']));
    await level(cow, ant);
    expect(namesIn(ant)).toEqual(['c', 'd', 'disk', 'disk/a', 'disk/b', 'e']);
    // On a busy machine it may be there for a moment: others must have the files durably before they are dropped.
    await eventually(async () => expect(await cow.problems()).not.toContain('cache-full'));
    await writeFile(cow.path('disk/more'), randomBytes(3 * mebibyte));
    await eventually(async () => expect(await cow.problems()).toContain('cache-full'));
    await eventually(() => expect(namesIn(cow)).toEqual(['disk', 'disk/a', 'disk/b', 'disk/more']));
  },
);

test('[CL23] the sums of `transfers` count what a member on demand fetches, there and at the source', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  const size = 24 * mebibyte;
  await writeFile(ant.path('film'), randomBytes(size));
  const cow = await addOnDemand(cluster, 'cow');
  await level(cow, ant);
  const transfersOf = async (member: Member) => transfersSchema.parse(await member.get('/transfers'));
  // All of it would take more than a minute.
  expect((await lockstep(['limit', '--send', '256 KiB/s', ant.folder])).code).toBe(0);
  expect((await lockstep(['pin', cow.path('film')])).code).toBe(0);
  for (const [member, side] of [[cow, 'arriving'] as const, [ant, 'leaving'] as const]) {
    await eventually(async () => {
      const { [side]: sum } = await transfersOf(member);
      expect(sum.left).toBeGreaterThan(0);
      expect(sum.left).toBeLessThan(size);
      expect(sum.bytesPerSecond).toBeGreaterThan(0);
      expect(sum.secondsLeft).toBeCloseTo(sum.left / sum.bytesPerSecond, 0);
    });
  }
  expect((await lockstep(['transfers', '--once', cow.folder])).out).toMatch(/^Arriving: [\d.]+ MB to go at .+, about /);
  expect((await lockstep(['limit', '--send', 'none', ant.folder])).code).toBe(0);
  await eventually(async () => {
    expect((await transfersOf(cow)).arriving).toEqual({ left: 0, bytesPerSecond: 0, secondsLeft: null });
    expect((await transfersOf(ant)).leaving.left).toBe(0);
  });
});
