import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { apiErrorSchema, writtenEntrySchema } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import type { Cluster } from '../../testkit/cluster.ts';
import { eventually } from '../../testkit/eventually.ts';
import { patience } from '../../testkit/http.ts';
import type { Member } from '../../testkit/member.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

const mebibyte = 1_048_576;

const staged = (member: Member): readonly string[] => readdirSync(member.state('staging'));

/** Writes a whole file, or the bytes of it from `start` on. */
async function write(
  member: Member,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  { start, match }: { start?: number; match: string },
) {
  const range = { 'content-range': `bytes ${start}-${(start ?? 0) + Buffer.byteLength(body) - 1}/*` };
  const headers = { 'if-match': match, ...(start === undefined ? {} : range) };
  const method = start === undefined ? 'PUT' : 'PATCH';
  const answer = await member.fetch(`api/v1/files/${path}`, { method, body, headers });
  const etag = String(answer.headers.get('etag'));
  if (answer.ok) return { status: answer.status, etag, version: writtenEntrySchema.parse(await answer.json()).version };
  return { status: answer.status, etag, ...apiErrorSchema.parse(await answer.json()).error };
}

const etagOf = async (member: Member, path: string): Promise<string> =>
  String((await member.fetch(`api/v1/files/${path}`, { method: 'HEAD' })).headers.get('etag'));

/** `bytes` with others from `start` on. */
function over(bytes: Uint8Array, start: number, others: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, start), others, bytes.subarray(start + others.length)]);
}

/** Adds a member that fetches contents on demand, and only those that are read. */
function addOnDemand(cluster: Cluster, name: string, cache: string): Promise<Member> {
  const env = { LOCKSTEP_CONTENT: 'on-demand', LOCKSTEP_CACHE_SIZE: cache, LOCKSTEP_PREFETCH: 'false' };
  return cluster.add(name, { start: { env } });
}

async function level(member: Member, other: Member): Promise<void> {
  await eventually(async () => {
    const [mine, theirs] = [await member.status(), await other.status()];
    expect([mine.digest, mine.pending]).toEqual([theirs.digest, 0]);
  });
}

test('[FA5] [FA7] bytes of a large file are replaced and added through any member, each time in one version', async () => {
  const cluster = await startCluster(['ant', 'bee']);
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  let bytes: Buffer = randomBytes(20 * mebibyte + 5);
  await writeFile(ant.path('disk.img'), bytes);
  await chmod(ant.path('disk.img'), 0o600);
  await cluster.settled();
  const parts = [
    [ant, mebibyte - 3, 6],
    [bee, 0, 1],
    [ant, 2 * mebibyte, 3 * mebibyte],
    [bee, 20 * mebibyte, 10],
    [ant, 20 * mebibyte + 10, mebibyte],
  ] as const;
  for (const [member, start, length] of parts) {
    const part = randomBytes(length);
    const { status, etag } = await write(member, 'disk.img', part, { start, match: await etagOf(member, 'disk.img') });
    expect(status).toBe(200);
    bytes = over(bytes, start, part);
    expect(readFileSync(member.path('disk.img')).equals(bytes)).toBe(true);
    await cluster.settled();
    expect(await etagOf(ant, 'disk.img')).toBe(etag);
    expect(await etagOf(bee, 'disk.img')).toBe(etag);
  }
  expect(readFileSync(bee.path('disk.img')).equals(bytes)).toBe(true);
  expect(statSync(bee.path('disk.img')).mode & 0o777).toBe(0o600);
  const { log } = (await ant.get('/paths/disk.img')) as { log: unknown[] };
  expect(log.length).toBeLessThanOrEqual(parts.length + 2);
  expect([...staged(ant), ...staged(bee)]).toEqual([]);
  await cluster.verified();
});

test('[FA7] a body that breaks off, and a user who changes the file meanwhile, leave no part of it', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  const bytes = randomBytes(5 * mebibyte);
  await writeFile(ant.path('film'), bytes);
  await cluster.settled();
  const { hostname, port } = new URL(ant.url);
  const begin = async () => {
    const headers = {
      cookie: await ant.logIn(),
      'content-length': 4 * mebibyte,
      'content-range': `bytes 0-${4 * mebibyte - 1}/*`,
      'if-match': await etagOf(ant, 'film'),
    };
    const upload = request({ hostname, port, path: '/api/v1/files/film', method: 'PATCH', headers, agent: false });
    // Its end is what the test is about.
    upload.on('error', () => undefined);
    const answered = once(upload, 'response', { signal: patience() });
    upload.write(randomBytes(3 * mebibyte));
    await eventually(() => expect(staged(ant)).toHaveLength(1));
    expect(readFileSync(ant.path('film')).equals(bytes)).toBe(true);
    return { upload, answered };
  };
  const cut = await begin();
  cut.answered.catch(() => undefined);
  cut.upload.destroy();
  await eventually(() => expect(staged(ant)).toEqual([]));
  expect(readFileSync(ant.path('film')).equals(bytes)).toBe(true);

  const late = await begin();
  await writeFile(ant.path('film'), 'by a user\n');
  late.upload.end(randomBytes(mebibyte));
  const [response] = await late.answered;
  expect(response.statusCode).toBe(412);
  response.resume();
  expect(response.headers.etag).toBe(await etagOf(ant, 'film'));
  expect(readFileSync(ant.path('film'), 'utf8')).toBe('by a user\n');
  await eventually(() => expect(staged(ant)).toEqual([]));
});

test('[FA7] of changes at once to the same version exactly one is made, of any size', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  await ant.put('file', '');
  await cluster.settled();
  for (const size of [10, 100_000, 3 * mebibyte]) {
    for (let round = 0; round < 2; round++) {
      // The file was written so recently that its fingerprint alone proves nothing.
      const { etag: match } = await write(ant, 'file', randomBytes(size), { match: '*' });
      const answers = await Promise.all([
        write(ant, 'file', randomBytes(size), { match }),
        write(ant, 'file', randomBytes(size), { match }),
        write(ant, 'file', 'first', { start: 0, match }),
        write(ant, 'file', 'second', { start: size, match }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
      expect(new Set(answers.map(({ version }) => JSON.stringify(version)))).toEqual(
        new Set([await etagOf(ant, 'file')]),
      );
    }
  }
});

test('[FA7] a member on demand fetches a file to change it, as far as its cache and the others permit', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  const [bytes, small] = [randomBytes(3 * mebibyte), randomBytes(1_000)];
  await writeFile(ant.path('disk.img'), bytes);
  await writeFile(ant.path('small'), small);
  await cluster.settled();
  const cow = await addOnDemand(cluster, 'cow', '4 MiB');
  await level(cow, ant);
  expect(existsSync(cow.path('disk.img'))).toBe(false);
  const match = await etagOf(cow, 'disk.img');
  const other = await write(cow, 'disk.img', 'other', { start: 0, match: '"other:1"' });
  expect(other).toMatchObject({ status: 412, etag: match });
  // It was not fetched for that.
  expect(existsSync(cow.path('disk.img'))).toBe(false);

  const changed = await write(cow, 'disk.img', 'changed', { start: 2 * mebibyte - 3, match });
  expect(changed.status).toBe(200);
  await level(ant, cow);
  expect(await etagOf(ant, 'disk.img')).toBe(changed.etag);
  const expected = over(bytes, 2 * mebibyte - 3, Buffer.from('changed'));
  expect(readFileSync(ant.path('disk.img')).equals(expected)).toBe(true);

  const more = await write(cow, 'disk.img', randomBytes(2 * mebibyte), { start: 3 * mebibyte, match: changed.etag });
  expect(more).toMatchObject({ status: 507, code: 'disk-full' });
  expect(await etagOf(cow, 'disk.img')).toBe(changed.etag);

  await ant.kill();
  const alone = await write(cow, 'small', 'no', { start: 0, match: '*' });
  expect(alone).toMatchObject({ status: 409, code: 'content-unavailable' });
  expect(staged(cow)).toEqual([]);
});
