import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { writtenEntrySchema } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import { patience } from '../../testkit/http.ts';
import type { Member } from '../../testkit/member.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

const mebibyte = 1_048_576;

/** The visible entries in the folder of a member. */
const namesIn = (member: Member): readonly string[] =>
  readdirSync(member.folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name !== '.lockstep' && !name.startsWith('.lockstep/'))
    .sort();

const staged = (member: Member): readonly string[] => readdirSync(member.state('staging'));

const put = (
  member: Member,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) => member.fetch(`api/v1/files/${path}`, { method: 'PUT', body, headers });

/** An upload whose bytes the test sends. */
async function begin(member: Member, path: string, size: number): Promise<ClientRequest> {
  const { hostname, port } = new URL(member.url);
  const headers = { cookie: await member.logIn(), 'content-length': size };
  const upload = request({ hostname, port, path: `/api/v1/files/${path}`, method: 'PUT', headers, agent: false });
  // Its end is what the test is about.
  upload.on('error', () => undefined);
  return upload;
}

/** Sends bytes, no faster than the agent takes them. */
async function send(upload: ClientRequest, bytes: Uint8Array): Promise<void> {
  if (!upload.write(bytes)) await once(upload, 'drain');
}

test('[FA1] [FA5] what is put through one member is an ordinary change of it, on all members', async () => {
  const cluster = await startCluster(['ant', 'bee']);
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  const answer = await put(ant, 'new/notes.txt', 'first\n');
  expect(answer.status).toBe(201);
  const { version } = writtenEntrySchema.parse(await answer.json());
  expect(version).toMatch(/:\d+$/);
  await cluster.settled();
  expect(await readFile(bee.path('new/notes.txt'), 'utf8')).toBe('first\n');
  expect(statSync(ant.path('new/notes.txt')).mode & 0o777).toBe(0o644);

  // The same path on every member is the same file, in the same version.
  const etag = JSON.stringify(version);
  expect((await bee.fetch('api/v1/files/new/notes.txt', { headers: { 'if-none-match': etag } })).status).toBe(304);

  // A user's edit comes between: the person has not seen it.
  await bee.put('new/notes.txt', 'edited by a user\n');
  await cluster.settled();
  expect((await put(ant, 'new/notes.txt', 'second\n', { 'if-match': etag })).status).toBe(412);
  expect(await readFile(ant.path('new/notes.txt'), 'utf8')).toBe('edited by a user\n');

  const move = await ant.fetch('api/v1/files/new', {
    method: 'MOVE',
    headers: { 'if-match': '*', destination: '/api/v1/files/renamed' },
  });
  expect(move.status).toBe(201);
  await cluster.settled();
  expect(namesIn(bee)).toEqual(['renamed', 'renamed/notes.txt']);
  const logged = (await ant.get('/paths/renamed/notes.txt')) as { log: { from?: string }[] };
  expect(logged.log[0]?.from).toBe('new/notes.txt');

  const gone = await ant.fetch('api/v1/files/renamed?entries=1', { method: 'DELETE', headers: { 'if-match': '*' } });
  expect(await gone.json()).toMatchObject({ entries: 2, left: [] });
  await cluster.settled();
  expect(namesIn(bee)).toEqual([]);
  await cluster.verified();
});

test('[FA1] of two uploads at once for the same version one replaces the file, of any size', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  const tagOf = (answer: Response) => String(answer.headers.get('etag'));
  await put(ant, 'file', '');
  for (const size of [10, 100_000, 3 * mebibyte]) {
    for (let round = 0; round < 4; round++) {
      // The file was written so recently that its fingerprint alone proves nothing.
      const headers = { 'if-match': tagOf(await put(ant, 'file', randomBytes(size), { 'if-match': '*' })) };
      const both = [randomBytes(size), randomBytes(size)].map((body) => put(ant, 'file', body, headers));
      const answers = await Promise.all(both);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
      expect(new Set(answers.map(tagOf)).size).toBe(1);
    }
  }
  const headers = { 'if-match': '*', destination: '/api/v1/files/moved' };
  expect((await ant.fetch('api/v1/files/file', { method: 'MOVE', headers })).status).toBe(201);
  await put(ant, 'moved', randomBytes(3 * mebibyte), { 'if-match': '*' });
  expect((await ant.fetch('api/v1/files/moved', { method: 'DELETE', headers })).status).toBe(200);
});

test('[FA6] a large file streams: the memory of the agent does not grow with it', async () => {
  const cluster = await startCluster(['ant', 'bee']);
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await put(ant, 'warm', randomBytes(8 * mebibyte));
  await cluster.settled();
  const before = (await ant.usage()).memoryMiB;
  const size = 300 * mebibyte;
  const upload = await begin(ant, 'film', size);
  const answered = once(upload, 'response', { signal: patience() });
  const [whole, part] = [createHash('sha256'), randomBytes(mebibyte)];
  let highest = before;
  for (let index = 0; index < 300; index++) {
    part.writeUInt32LE(index);
    whole.update(part);
    await send(upload, Buffer.from(part));
    if (index % 20 === 0) highest = Math.max(highest, (await ant.usage()).memoryMiB);
  }
  expect(namesIn(ant)).toEqual(['warm']);
  upload.end();
  const [response] = await answered;
  expect(response.statusCode).toBe(201);
  response.resume();
  highest = Math.max(highest, (await ant.usage()).memoryMiB);
  expect(highest - before).toBeLessThan(120);
  expect(staged(ant)).toEqual([]);
  await cluster.settled();

  const down = await bee.fetch('api/v1/files/film');
  const received = createHash('sha256');
  for await (const chunk of down.body ?? []) received.update(chunk);
  expect(received.digest('hex')).toBe(whole.digest('hex'));
  const range = { range: `bytes=${mebibyte - 10}-${2 * mebibyte + 9}` };
  const slice = await bee.fetch('api/v1/files/film', { headers: range });
  expect([slice.status, slice.headers.get('content-range')]).toEqual([
    206,
    `bytes ${mebibyte - 10}-${2 * mebibyte + 9}/${size}`,
  ]);
  const bytes = Buffer.from(await slice.arrayBuffer());
  expect(bytes.length).toBe(mebibyte + 20);
  expect(bytes.equals(readFileSync(bee.path('film')).subarray(mebibyte - 10, 2 * mebibyte + 10))).toBe(true);
});

test('[FA6] an upload that breaks off leaves nothing visible, and nothing in staging', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  await put(ant, 'kept', 'kept\n');
  const operations = (await ant.status()).operations;
  const cut = async (path: string, headers: Record<string, string> = {}): Promise<ClientRequest> => {
    const upload = await begin(ant, path, 20 * mebibyte);
    for (const [name, value] of Object.entries(headers)) upload.setHeader(name, value);
    for (let index = 0; index < 5; index++) await send(upload, Buffer.alloc(mebibyte, index));
    await eventually(() => expect(staged(ant)).toHaveLength(1));
    expect(namesIn(ant)).toEqual(['kept']);
    return upload;
  };

  (await cut('a/film')).destroy();
  await eventually(() => expect(staged(ant)).toEqual([]));
  (await cut('kept', { 'if-match': '*' })).destroy();
  await eventually(() => expect(staged(ant)).toEqual([]));
  expect(await readFile(ant.path('kept'), 'utf8')).toBe('kept\n');
  expect((await ant.status()).operations).toBe(operations);

  await cut('a/film');
  await ant.kill();
  expect(namesIn(ant)).toEqual(['kept']);
  await ant.start();
  expect(staged(ant)).toEqual([]);
  expect(namesIn(ant)).toEqual(['kept']);
  expect(ant.log.filter((line) => line.includes('"level":50'))).toEqual([]);
});

test('[FA4] a file that the disk has no room for, or that no login allows, is refused before its bytes', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  const { bavail, bsize } = statfsSync(ant.folder);
  const size = bavail * bsize + 10 * 1024 ** 3;
  const upload = await begin(ant, 'huge', size);
  const answered = once(upload, 'response', { signal: patience() });
  upload.flushHeaders();
  const [response] = await answered;
  expect(response.statusCode).toBe(size > 512 * 1024 ** 3 ? 413 : 507);
  upload.destroy();
  for (const method of ['PUT', 'PATCH', 'GET', 'DELETE', 'MKCOL', 'MOVE']) {
    expect([method, (await fetch(`${ant.url}api/v1/files/x`, { method })).status]).toEqual([method, 401]);
  }
  expect(namesIn(ant)).toEqual([]);
});

test('[FA4] what a user does in the folder meanwhile is never lost', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  const upload = await begin(ant, 'plan.txt', 3 * mebibyte);
  const answered = once(upload, 'response', { signal: patience() });
  await send(upload, Buffer.alloc(2 * mebibyte));
  // The agent has begun to take it: otherwise it could refuse it before its bytes.
  await eventually(() => expect(staged(ant)).toHaveLength(1));
  await writeFile(ant.path('plan.txt'), 'by a user\n');
  upload.end(Buffer.alloc(mebibyte));
  const [response] = await answered;
  expect(response.statusCode).toBe(428);
  expect(await readFile(ant.path('plan.txt'), 'utf8')).toBe('by a user\n');

  await put(ant, '.lockstepignore', '*.log\n');
  await eventually(async () => expect(await ant.get('/paths/run.log')).toMatchObject({ ignored: true }));
  await mkdir(ant.path('tree'));
  await writeFile(ant.path('tree/run.log'), 'not synchronized\n');
  await put(ant, 'tree/file', 'text');
  const headers = { 'if-match': '*' };
  const move = await ant.fetch('api/v1/files/tree', {
    method: 'MOVE',
    headers: { ...headers, destination: '/api/v1/files/other' },
  });
  expect([move.status, await move.text()]).toEqual([409, expect.stringContaining('does not synchronize')]);
  const remove = await ant.fetch('api/v1/files/tree?entries=1', { method: 'DELETE', headers });
  expect(await remove.json()).toMatchObject({
    entries: 1,
    left: [{ path: 'tree', reason: expect.stringContaining('not empty') }],
  });
  expect(namesIn(ant)).toEqual(['.lockstepignore', 'plan.txt', 'tree', 'tree/run.log']);
  expect((await put(ant, 'tree/file', 'text')).status).toBe(201);
});
