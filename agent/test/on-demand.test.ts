import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { remotePageSchema } from '@lockstep/shared/api';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { startCluster, useCluster } from '../../testkit/vitest/use-cluster.ts';
import { addOnDemand, level, namesIn, put, read } from './support/on-demand.ts';

const mebibyte = 1_048_576;

test('[OD1] [OD2] a member on demand knows all names, and has the files that were read', async () => {
  const cluster = await startCluster(['ant', 'bee']);
  const ant = cluster.member('ant');
  await mkdir(ant.path('docs'));
  await ant.put('docs/a.txt', 'first\n');
  await ant.put('docs/b.txt', 'second\n');
  await ant.put('docs/empty', '');
  await cluster.settled();
  const cow = await addOnDemand(cluster, 'cow');
  await level(cow, ant);
  expect(namesIn(cow)).toEqual(['docs', 'docs/empty']);
  expect(await read(cow, 'docs/a.txt')).toBe('first\n');
  // The reader has the bytes before the file is in place.
  await eventually(() => expect(namesIn(cow)).toEqual(['docs', 'docs/a.txt', 'docs/empty']));
  // It stays, and is not fetched again.
  await ant.kill();
  await cluster.member('bee').kill();
  expect(await read(cow, 'docs/a.txt')).toBe('first\n');
});

test('[OD21] a member on demand that joins gets names, and the contents that are read', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  for (let index = 0; index < 20; index++) await writeFile(ant.path(`file-${index}`), randomBytes(20_000));
  await ant.wait({ for: 'all' });
  const cow = await addOnDemand(cluster, 'cow');
  await level(cow, ant);
  const received = () => cow.metric('lockstep_peer_received_bytes_total');
  expect(await received()).toBe(0);
  await read(cow, 'file-3');
  expect(await received()).toBe(20_000);
  await eventually(async () => expect((await ant.status()).filters?.members).toBe(1));
});

test('[OD2] a read on a slow line waits for a block that is under way for longer than eight seconds', async () => {
  const cluster = await startCluster(['ant'], { proxied: true });
  const ant = cluster.member('ant');
  const bytes = randomBytes(600_000);
  await writeFile(ant.path('slow'), bytes);
  const cow = await addOnDemand(cluster, 'cow');
  await level(cow, ant);
  cluster.shapes('cow', { bytesPerSecond: 50_000 });
  const answer = await cow.fetch('api/v1/files/slow');
  expect(answer.status).toBe(200);
  expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
});

test('[OD2] a read from a member that hangs says that it does not answer', async () => {
  const cluster = await startCluster(['ant'], { proxied: true });
  const ant = cluster.member('ant');
  await writeFile(ant.path('film'), randomBytes(3 * mebibyte));
  const cow = await addOnDemand(cluster, 'cow');
  await level(cow, ant);
  cluster.shapes('cow', { delayMs: 60_000 });
  const answer = await cow.fetch('api/v1/files/film');
  expect(answer.status).toBe(409);
  // After 10 s without a heartbeat the member counts as down: on a slow machine that may come first.
  expect(await answer.text()).toMatch(
    /Nothing of film arrived for 8 s: the members that have it do not answer\.|No reachable member has the content of film\. .*ant may have it/,
  );
});

test('[OD2] a read from a member that hangs goes on from another one that has the file', async () => {
  const cluster = await startCluster(['ant', 'bee']);
  const ant = cluster.member('ant');
  const bytes = randomBytes(3 * mebibyte);
  await ant.put('file', bytes);
  await cluster.settled();
  const cow = await addOnDemand(cluster, 'cow');
  await level(cow, ant);
  // The member that wrote the file is asked first.
  ant.signal('SIGSTOP');
  const answer = await cow.fetch('api/v1/files/file');
  expect(answer.status).toBe(200);
  expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
});

describe('one member with the whole folder, and one on demand', () => {
  const cluster = useCluster(['ant']);
  beforeAll(async () => {
    await addOnDemand(cluster(), 'cow');
  });

  /** The two, with an empty directory for a test. */
  async function pair(room: string): Promise<[Member, Member]> {
    const [ant, cow] = [cluster().member('ant'), cluster().member('cow')];
    await mkdir(ant.path(room));
    await level(cow, ant);
    return [ant, cow];
  }

  test('[OD3] a new version makes the old one invisible at once', async () => {
    const [ant, cow] = await pair('replaced');
    const first = randomBytes(mebibyte);
    await writeFile(ant.path('replaced/large'), first);
    await level(cow, ant);
    await read(cow, 'replaced/large');
    await eventually(() => expect(readFileSync(cow.path('replaced/large')).equals(first)).toBe(true));
    await writeFile(ant.path('replaced/large'), randomBytes(mebibyte));
    await ant.wait({ for: 'all' });
    await level(cow, ant);
    expect(existsSync(cow.path('replaced/large'))).toBe(false);
  });

  test('[OD4] what is written on a member on demand reaches the others, and what is in its folder can be edited', async () => {
    const [ant, cow] = await pair('written');
    await ant.put('written/notes.txt', 'one\n');
    await cow.put('written/new.txt', 'from cow\n');
    await level(ant, cow);
    expect(readFileSync(ant.path('written/new.txt'), 'utf8')).toBe('from cow\n');
    await read(cow, 'written/notes.txt');
    await eventually(() => expect(namesIn(cow, 'written')).toContain('notes.txt'));
    await cow.put('written/notes.txt', 'two\n');
    await eventually(() => expect(readFileSync(ant.path('written/notes.txt'), 'utf8')).toBe('two\n'));
    expect(namesIn(ant, 'written')).toEqual(['new.txt', 'notes.txt']);
  });

  test('[OD7] a file that is not on this disk is replaced, renamed and deleted as any other, and not fetched for it', async () => {
    const [ant, cow] = await pair('changed');
    for (const name of ['put', 'move', 'delete']) await ant.put(`changed/${name}`, `${name} of ant\n`);
    await level(cow, ant);
    expect((await put(cow, 'changed/put', 'of cow\n', { 'if-match': '*' })).status).toBe(200);
    const move = await cow.fetch('api/v1/files/changed/move', {
      method: 'MOVE',
      headers: { 'if-match': '*', destination: '/api/v1/files/changed/new/moved' },
    });
    expect(move.status).toBe(201);
    expect(
      (await cow.fetch('api/v1/files/changed/delete', { method: 'DELETE', headers: { 'if-match': '*' } })).status,
    ).toBe(200);
    await eventually(() => expect(namesIn(ant, 'changed')).toEqual(['new', 'new/moved', 'put']));
    await level(ant, cow);
    expect(readFileSync(ant.path('changed/put'), 'utf8')).toBe('of cow\n');
    expect(readFileSync(ant.path('changed/new/moved'), 'utf8')).toBe('move of ant\n');
    expect(namesIn(cow, 'changed')).toEqual(['new', 'put']);
  });

  test('[OD7] a directory takes with it what is not on this disk', async () => {
    const [ant, cow] = await pair('directory');
    await mkdir(ant.path('directory/old/deep'), { recursive: true });
    for (const name of ['old/a', 'old/b', 'old/deep/c']) await ant.put(`directory/${name}`, `${name}\n`);
    await level(cow, ant);
    await read(cow, 'directory/old/a');
    await eventually(() => expect(namesIn(cow, 'directory')).toContain('old/a'));
    await rename(cow.path('directory/old'), cow.path('directory/new'));
    await eventually(() =>
      expect(namesIn(ant, 'directory')).toEqual(['new', 'new/a', 'new/b', 'new/deep', 'new/deep/c']),
    );
    await level(ant, cow);
    expect(namesIn(cow, 'directory')).toEqual(['new', 'new/a', 'new/deep']);
    expect(await read(cow, 'directory/new/deep/c')).toBe('old/deep/c\n');
    const answer = await cow.fetch('api/v1/files/directory/new?entries=4', {
      method: 'DELETE',
      headers: { 'if-match': '*' },
    });
    expect(await answer.json()).toMatchObject({ entries: 5, left: [] });
    await eventually(() => expect(namesIn(ant, 'directory')).toEqual([]));
  });

  test('[OD7] what was deleted elsewhere while it was not here is gone here too, and a rename of its directory brings nothing back', async () => {
    const [ant, cow] = await pair('deleted');
    await mkdir(ant.path('deleted/dir'));
    for (const name of ['x1', 'x2', 'x3']) await ant.put(`deleted/dir/${name}`, `${name}\n`);
    await level(cow, ant);
    await rm(ant.path('deleted/dir/x2'));
    await rename(ant.path('deleted/dir/x1'), ant.path('deleted/dir/x1r'));
    await eventually(async () => {
      const page = remotePageSchema.parse(await (await cow.fetch('api/v1/remote?directory=deleted/dir')).json());
      expect(page.files.map(({ name }) => name)).toEqual(['x1r', 'x3']);
    });
    await rename(cow.path('deleted/dir'), cow.path('deleted/new'));
    await eventually(() => expect(readdirSync(ant.path('deleted'))).toEqual(['new']));
    await level(cow, ant);
    expect(readdirSync(ant.path('deleted/new')).sort()).toEqual(['x1r', 'x3']);
  });
});

test('[OD8] a wait counts members that have the whole folder, and no others', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  const cow = await addOnDemand(cluster, 'cow');
  await ant.put('file', 'of ant\n');
  await level(cow, ant);
  const three = await ant.fetch('api/v1/wait', {
    method: 'POST',
    body: JSON.stringify({ for: 3, timeoutMs: 100 }),
    headers: { 'content-type': 'application/json' },
  });
  expect(three.status).toBe(400);
  expect(await three.text()).toContain('3 members were asked for, and the cluster has 2.');
  // The member on demand counts once it has what was asked about.
  await eventually(async () =>
    expect(await ant.wait({ for: 2, timeoutMs: 1_000 })).toMatchObject({
      done: false,
      holding: 1,
      blocking: [{ path: 'file', reason: 'It is on 1 member, and is to be on 2.' }],
    }),
  );
  await read(cow, 'file');
  expect(await ant.wait({ for: 2 })).toMatchObject({ done: true, wanted: 2, holding: 2 });
  expect(await ant.wait({ for: 'all' })).toMatchObject({ done: true, wanted: 1, holding: 1 });
  // A file that is written on the member on demand must be on the other one.
  await ant.kill();
  await cow.put('own', 'of cow\n');
  expect(await cow.wait({ for: 'all', timeoutMs: 200 })).toMatchObject({ done: false, wanted: 1 });
});

test('[OD9] a member that has the whole folder from now on fetches all, and one that no longer has keeps what fits', async () => {
  const cluster = await startCluster(['ant', 'bee']);
  const ant = cluster.member('ant');
  for (let index = 0; index < 4; index++) await writeFile(ant.path(`file-${index}`), randomBytes(mebibyte));
  const cow = await addOnDemand(cluster, 'cow', '2 MiB');
  await level(cow, ant);
  expect(namesIn(cow)).toEqual([]);
  await cow.stop();
  await cow.start({ env: { LOCKSTEP_CONTENT: 'full' } });
  await eventually(() => expect(namesIn(cow)).toHaveLength(4));
  await cluster.settled([ant, cluster.member('bee')]);
  await cow.stop();
  await cow.start({ env: { LOCKSTEP_CONTENT: 'on-demand', LOCKSTEP_CACHE_SIZE: '2 MiB' } });
  await eventually(() => expect(namesIn(cow).length).toBeLessThanOrEqual(2));
  expect(namesIn(ant)).toHaveLength(4);
});

test('[OD13] what is pinned comes here and stays, also what is made later', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  await mkdir(ant.path('keep'));
  for (let index = 0; index < 3; index++) await writeFile(ant.path(`keep/${index}`), randomBytes(mebibyte));
  for (let index = 0; index < 6; index++) await writeFile(ant.path(`other-${index}`), randomBytes(mebibyte));
  const cow = await addOnDemand(cluster, 'cow', '5 MiB');
  await level(cow, ant);
  const pinned = await lockstep(['pin', cow.path('keep')]);
  expect(pinned.out).toBe('keep stays on this member: 3 files with 3.1 MB are fetched now.\n');
  await eventually(() => expect(namesIn(cow)).toEqual(['keep', 'keep/0', 'keep/1', 'keep/2']));
  await writeFile(ant.path('keep/later'), randomBytes(mebibyte / 2));
  await eventually(() => expect(namesIn(cow)).toContain('keep/later'));
  for (let index = 0; index < 6; index++) await read(cow, `other-${index}`);
  expect(namesIn(cow)).toEqual(expect.arrayContaining(['keep/0', 'keep/1', 'keep/2', 'keep/later']));
  expect((await lockstep(['status', cow.folder])).out).toContain('pinned     keep');
  await cow.stop();
  await cow.start();
  expect((await cow.status()).cache?.pins).toEqual(['keep']);

  const tooMuch = await lockstep(['pin', cow.folder]);
  expect([tooMuch.code, tooMuch.err]).toEqual([2, expect.stringContaining('raise cache_size first')]);
  const nothing = await lockstep(['pin', cow.path('none')]);
  expect([nothing.code, nothing.err]).toEqual([2, expect.stringContaining('There is nothing at none')]);
  const full = await lockstep(['pin', ant.path('keep')]);
  expect([full.code, full.err]).toEqual([2, expect.stringContaining('ant has the whole folder')]);
  expect((await lockstep(['unpin', cow.path('keep')])).code).toBe(0);
  const again = await lockstep(['unpin', cow.path('keep')]);
  expect([again.code, again.err]).toEqual([2, expect.stringContaining('keep is not pinned. Nothing is.')]);
});

test('[OD2] a content that no member has any more is an error that names who had it', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  await writeFile(ant.path('only'), randomBytes(mebibyte));
  const cow = await addOnDemand(cluster, 'cow');
  await level(cow, ant);
  await ant.kill();
  const answer = await cow.fetch('api/v1/files/only');
  expect(answer.status).toBe(409);
  expect(await answer.text()).toContain('No reachable member has the content of only');
  expect((await lockstep(['why', cow.path('only')])).out).toContain('ant');
  await ant.start();
  await cluster.connected();
  expect((await cow.fetch('api/v1/files/only')).status).toBe(200);
});

test('[OD22] the member on demand that had a file, and is down, is named', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  await writeFile(ant.path('only'), randomBytes(mebibyte));
  const [cow, dog] = [await addOnDemand(cluster, 'cow'), await addOnDemand(cluster, 'dog')];
  for (const member of [cow, dog]) await level(member, ant);
  await read(dog, 'only');
  await eventually(async () => expect((await cow.status()).filters?.members).toBe(1));
  await dog.stop();
  await ant.kill();
  await dog.start();
  await eventually(async () => expect(await cow.metric('lockstep_peer_connected')).toBe(1));
  await eventually(async () => expect((await cow.status()).filters?.members).toBe(1));
  // One that does not answer is not said to lack it.
  dog.signal('SIGSTOP');
  expect((await lockstep(['why', cow.path('only')])).out).toMatch(/\? {4}dog /);
  await dog.kill();
  await eventually(async () =>
    expect((await lockstep(['why', cow.path('only')])).out).toMatch(/\? {4}dog .*, had it when last connected/),
  );
  const why = await lockstep(['why', cow.path('only')]);
  expect(why.out).toContain('no member that is up has it: dog had it when last connected');
  expect((await cow.fetch('api/v1/files/only')).status).toBe(409);
  // Those that left are not asked any more, but one of them alone can bring the file back.
  for (const gone of ['ant', 'dog']) {
    await eventually(async () => expect(await lockstep(['remove', gone, cow.folder])).toMatchObject({ code: 0 }));
  }
  const left = await lockstep(['why', cow.path('only')]);
  expect(left.out).toContain('no member that is up has it: ant and dog had it when last connected');
});

test('[OD14] [OD16] a reader asks the member on demand that told that it has the file, and no other one', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  const names = Array.from({ length: 8 }, (_, index) => `file-${index}`);
  for (const name of names) await writeFile(ant.path(name), randomBytes(100_000));
  const cow = await addOnDemand(cluster, 'cow');
  const dog = await addOnDemand(cluster, 'dog');
  const elk = await addOnDemand(cluster, 'elk');
  for (const member of [cow, dog, elk]) await level(member, ant);
  await eventually(async () => expect((await dog.status()).filters).toEqual({ members: 2, bytes: 256 }));
  for (const [index, name] of names.entries()) await read(index % 2 === 0 ? cow : elk, name);
  // After a restart they tell all that they have.
  for (const member of [cow, elk]) {
    await member.stop();
    await member.start();
  }
  await eventually(async () => expect((await dog.status()).filters?.members).toBe(2));
  await ant.kill();
  await eventually(async () => expect(await dog.metric('lockstep_peer_connected')).toBe(2));
  for (const name of names) await read(dog, name);
  expect(await dog.metric('lockstep_content_questions_total')).toBe(names.length);
  expect(await dog.metric('lockstep_false_answers_total')).toBe(0);
});
