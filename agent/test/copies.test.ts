import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

const kibibyte = 1_024;

/** The environment of a member that fetches contents on demand, and takes another for gone after five seconds. */
const onDemand = (cache: string) => ({
  LOCKSTEP_CONTENT: 'on-demand',
  LOCKSTEP_CACHE_SIZE: cache,
  LOCKSTEP_PREFETCH: 'false',
  LOCKSTEP_COPIES_AWAY: '5s',
});

/** The number of members that have each file. */
const copiesOf = (paths: readonly string[], members: readonly Member[]): number[] =>
  paths.map((path) => members.filter((member) => existsSync(member.path(path))).length);

const copies = (member: Member, ...args: readonly string[]) => lockstep(['copies', ...args, '--dir', member.folder]);

async function writeFiles(member: Member, count: number, bytes: number): Promise<string[]> {
  const paths = Array.from({ length: count }, (_, index) => `file-${index}`);
  for (const path of paths) await writeFile(member.path(path), randomBytes(bytes));
  return paths;
}

test('[CP2] [CP3] copies are made on members on demand, and made elsewhere when one of those is away', async () => {
  const cluster = await startCluster(['ant'], { start: { env: { LOCKSTEP_COPIES_AWAY: '5s' } } });
  const ant = cluster.member('ant');
  const others: Member[] = [];
  for (const name of ['bee', 'cow', 'dog'])
    others.push(await cluster.add(name, { start: { env: onDemand('50 MiB') } }));
  const [bee] = others;
  if (bee === undefined) throw new Error('unreachable');
  await eventually(async () => {
    const { members } = JSON.parse((await copies(ant, '--json')).out);
    expect(members.filter(({ counts }: { counts: boolean }) => counts)).toHaveLength(4);
  });
  const paths = await writeFiles(ant, 24, 200 * kibibyte);
  await cluster.settled([ant]);
  await eventually(() => expect(copiesOf(paths, others)).toEqual(paths.map(() => 0)));
  expect((await copies(bee, '2')).out).toContain('all files: on at least 2 members');
  // ant has the whole folder, and counts as one.
  await eventually(() => expect(copiesOf(paths, others)).toEqual(paths.map(() => 1)));
  for (const member of others) expect(copiesOf(paths, [member])).toContain(1);
  expect(await lockstep(['wait', ant.folder])).toMatchObject({
    code: 0,
    out: expect.stringContaining(
      'Done: each file is on as many members as copies are wanted (2 at most), and 4 members know of it',
    ),
  });
  const why = await lockstep(['why', ant.path('file-0')]);
  expect(why.out).toMatch(/Copies\n {2}2 copies are wanted; (bee|cow|dog) is to keep one\./);
  // Those on demand are asked whether they have it.
  await eventually(async () => {
    const held = await lockstep(['why', ant.path('file-0'), '--json']);
    const holders: { name: string; holds: boolean }[] = JSON.parse(held.out).holders;
    for (const member of [ant, ...others]) {
      const said = holders.find(({ name }) => name === member.name);
      expect(said?.holds).toBe(existsSync(member.path('file-0')));
    }
  });

  await bee.kill();
  await eventually(() => expect(copiesOf(paths, others.slice(1))).toEqual(paths.map(() => 1)), { timeoutMs: 60_000 });
  // ant may have heard bee a moment later than the others.
  await eventually(async () => expect((await copies(ant)).out).toContain('bee does not count now'));
});

test('[CP2] [CP5] three members on demand with two copies hold more than the disk of one, and lose none', async () => {
  const env = onDemand('12 MiB');
  const cluster = await startCluster(['ant', 'bee', 'cow'], { start: { env } });
  const [ant, ...rest] = cluster.members;
  if (ant === undefined) throw new Error('unreachable');
  expect((await copies(ant, '2')).code).toBe(0);
  const paths: string[] = [];
  for (let index = 0; index < 26; index++) {
    const path = `film-${index}`;
    await writeFile(ant.path(path), randomBytes(512 * kibibyte));
    paths.push(path);
  }
  await eventually(
    async () => {
      for (const count of copiesOf(paths, cluster.members)) expect(count).toBeGreaterThanOrEqual(2);
      for (const member of cluster.members) {
        const { cache } = await member.status();
        expect(cache?.usedBytes).toBeLessThanOrEqual(12 * 1_024 * kibibyte);
      }
    },
    // The files are drawn for members by chance. One that gets more than fits says so, but changes what it says at most once a minute.
    { timeoutMs: 200_000 },
  );
  // All of it can be read anywhere.
  for (const member of rest) {
    const answer = await member.fetch('api/v1/files/film-3');
    expect((await answer.arrayBuffer()).byteLength).toBe(statSyncOf(cluster.members, 'film-3'));
  }
});

test('[CP5] while a member that has copies is away, what was only read here makes room for what is read next', async () => {
  const env = { ...onDemand('12 MiB'), LOCKSTEP_COPIES_AWAY: '1h' };
  const cluster = await startCluster(['ant', 'bee', 'cow'], { start: { env } });
  const [ant, bee, cow] = [cluster.member('ant'), cluster.member('bee'), cluster.member('cow')];
  expect((await copies(ant, '2')).code).toBe(0);
  const paths = await writeFiles(ant, 112, 128 * kibibyte);
  await eventually(() => expect(Math.min(...copiesOf(paths, cluster.members))).toBe(2), { timeoutMs: 200_000 });
  expect((await lockstep(['wait', ant.folder])).code).toBe(0);
  await bee.kill();
  for (const path of paths) expect((await cow.fetch(`api/v1/files/${path}`)).status, path).toBe(200);
  expect((await cow.status()).cache?.usedBytes).toBeLessThanOrEqual(12 * 1_024 * kibibyte);
  for (const count of copiesOf(paths, [ant, cow])) expect(count).toBeGreaterThanOrEqual(1);
});

function statSyncOf(members: readonly Member[], path: string): number | undefined {
  const holder = members.find((member) => existsSync(member.path(path)));
  return holder && statSync(holder.path(path)).size;
}

test('[CP1] [CP6] a rule holds on all members, and what makes no sense is refused', async () => {
  const cluster = await startCluster(['ant', 'bee']);
  const [ant, bee] = cluster.members;
  if (ant === undefined || bee === undefined) throw new Error('unreachable');
  expect((await copies(ant)).out).toContain('all files: on all members with the whole folder');
  expect(await copies(ant, '5')).toMatchObject({
    code: 2,
    err: expect.stringContaining('cannot be kept on 2 members'),
  });
  expect(await copies(ant, '0')).toMatchObject({ code: 2, err: expect.stringContaining('a whole number from 1') });
  expect(await copies(ant, '65')).toMatchObject({
    code: 2,
    err: expect.stringContaining('a whole number from 1 to 64, or all'),
  });
  expect(await copies(ant, '2', '!x')).toMatchObject({ code: 2, err: expect.stringContaining('no exceptions') });
  expect(await copies(ant, '--remove', 'x')).toMatchObject({ code: 2, err: expect.stringContaining('no rule for x') });
  expect((await copies(ant, '1', 'films/')).code).toBe(0);
  await eventually(async () => expect((await copies(bee)).out).toContain('films/: on at least 1 member'));
  expect((await copies(bee, '--remove', 'films/')).code).toBe(0);
  await eventually(async () => expect((await copies(ant)).out).not.toContain('films/'));
});

test('[OD5] files beyond the cache that no other member takes are a problem, until copies are made', async () => {
  const cluster = await startCluster(['ant', 'bee', 'cow'], { start: { env: onDemand('4 MiB') } });
  const ant = cluster.member('ant');
  const paths = await writeFiles(ant, 12, 512 * kibibyte);
  await eventually(
    async () => {
      const { problems } = await ant.status();
      expect(problems).toMatchObject([
        { code: 'cache-full', detail: expect.stringContaining('The files here take 6.3 MB') },
      ]);
    },
    { timeoutMs: 60_000 },
  );
  expect((await copies(ant, '1')).code).toBe(0);
  await eventually(async () => expect((await ant.status()).problems).toEqual([]), { timeoutMs: 120_000 });
  for (const count of copiesOf(paths, cluster.members)) expect(count).toBeGreaterThanOrEqual(1);
});

test('[OD5] files beyond the cache in a cluster that wants copies: the advice is not what is done already', async () => {
  const cluster = await startCluster(['ant', 'bee'], { start: { env: onDemand('4 MiB') } });
  const ant = cluster.member('ant');
  expect((await copies(ant, '2')).code).toBe(0);
  await writeFiles(ant, 12, 512 * kibibyte);
  await eventually(
    async () => {
      const details = (await ant.status()).problems.flatMap(({ code, detail }) =>
        code === 'cache-full' ? detail : [],
      );
      expect(details).toEqual([
        expect.stringMatching(
          /Raise cache_size here or on other members, .* or have fewer copies: lockstep copies 1\.$/,
        ),
      ]);
    },
    { timeoutMs: 60_000 },
  );
});

test('[CP7] a wait in a cluster of members on demand ends when each file has its copies', async () => {
  const cluster = await startCluster(['ant', 'bee', 'cow'], { start: { env: onDemand('12 MiB') } });
  const [ant, bee, cow] = ['ant', 'bee', 'cow'].map((name) => cluster.member(name)) as [Member, Member, Member];
  await writeFile(ant.path('film'), randomBytes(200 * kibibyte));
  // Without a rule another one must have it.
  await eventually(async () => {
    const alone = await lockstep(['wait', ant.folder, '--timeout', '1']);
    expect(alone.code).toBe(1);
    expect(alone.out).toContain('Only this member has it, and it is to be on 2. Rules have more members keep it');
  });
  expect(await bee.wait({ for: 'all' })).toMatchObject({ done: true, byCopies: true });
  await eventually(async () => {
    const two = await bee.wait({ for: 2, path: 'film', timeoutMs: 1_000 });
    expect(two).toMatchObject({
      done: false,
      blocking: [{ path: 'film', reason: 'It is on 1 member, and is to be on 2.' }],
    });
  });
  expect((await copies(ant, '2')).code).toBe(0);
  expect(await lockstep(['wait', ant.folder])).toMatchObject({
    code: 0,
    out: expect.stringContaining('Done: each file has its copies, and 3 members know of it'),
  });
  expect([ant, bee, cow].filter((member) => existsSync(member.path('film'))).length).toBeGreaterThanOrEqual(2);
  expect(await cow.wait({ for: 2, path: 'film' })).toMatchObject({ done: true, holding: 2 });
  await cow.kill();
  await writeFile(ant.path('more'), randomBytes(200 * kibibyte));
  await eventually(async () => {
    const three = await ant.wait({ for: 3, timeoutMs: 1_000 });
    expect(three.blocking).toContainEqual(expect.objectContaining({ path: 'more', memberName: 'cow' }));
  });
  await eventually(async () => {
    const less = await lockstep(['wait', ant.folder, '--timeout', '1']);
    expect(less.code).not.toBe(0);
    expect(less.out).toMatch(/2 members of 3 know of all of it, and each file must have its copies/);
  });
});

test('[CP5] a member that has the last copies leaves only if a person says so, and the others keep their names', async () => {
  const cluster = await startCluster(['ant', 'bee'], { start: { env: onDemand('12 MiB') } });
  const [ant, bee] = cluster.members;
  if (ant === undefined || bee === undefined) throw new Error('unreachable');
  await writeFile(ant.path('film'), randomBytes(200 * kibibyte));
  await eventually(async () => expect((await bee.status()).cache?.remoteFiles).toBe(1));
  const refused = await lockstep(['leave', ant.folder]);
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringContaining('1 file with 205 kB is on this member only: film.'),
  });
  expect((await copies(ant, '2')).code).toBe(0);
  await eventually(() => expect(existsSync(bee.path('film'))).toBe(true));
  await eventually(async () => expect(await lockstep(['leave', ant.folder])).toMatchObject({ code: 0 }));
});
