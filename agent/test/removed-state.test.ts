import { lstatSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { appendFile, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import { lockstep } from '../../testkit/member.ts';
import { shell } from '../../testkit/programs.ts';
import { namesOf } from '../../testkit/tree.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

const directories = ['history', 'staging', 'cookies'] as const;

test('[ST1] history, staging and cookies are removed while the agent runs: it continues and makes them again', async () => {
  const cluster = await startCluster(['ant', 'bee']);
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await shell(ant.folder, 'for n in $(seq 40); do echo $n > f$n; done; head -c 3000000 /dev/urandom > large');
  await cluster.settled();
  for (const name of directories) rmSync(bee.state(name), { recursive: true });
  await shell(
    ant.folder,
    'for n in $(seq 30); do echo changed $n > f$n; done; rm f31 f32; mv f33 g33; head -c 3000000 /dev/urandom > large',
  );
  await shell(bee.folder, 'rm f34; mv f35 g35; echo edited > f36');
  const names = namesOf(await cluster.settled());
  expect(names).toEqual(expect.arrayContaining(['g33', 'g35']));
  for (const gone of ['f31', 'f32', 'f33', 'f34', 'f35']) expect(names).not.toContain(gone);
  expect(names.filter((name) => name.includes('conflict'))).toEqual([]);
  for (const name of directories) expect(lstatSync(bee.state(name)).mode & 0o7777).toBe(0o700);
  await eventually(async () => expect(await bee.problems()).toEqual([]));
  // Versions that are replaced afterwards are kept again.
  expect(readdirSync(bee.state('history')).length).toBeGreaterThan(0);
  await cluster.verified();
});

test('[ST1] staging is removed while a large file is on its way: the whole file is fetched again', async () => {
  const cluster = await startCluster(['ant', 'bee'], { proxied: true });
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  cluster.shape('ant', 'bee', { bytesPerSecond: 1_000_000 });
  await shell(ant.folder, 'head -c 24000000 /dev/urandom > ../large; mv ../large large');
  await eventually(() => expect(readdirSync(bee.state('staging')).length).toBe(1));
  const [staged = ''] = readdirSync(bee.state('staging'));
  await eventually(async () => expect((await stat(bee.state('staging', staged))).size).toBeGreaterThan(4_000_000));
  await rm(bee.state('staging'), { recursive: true });
  cluster.shape('ant', 'bee', {});
  await cluster.settled();
  expect(bee.log.join('\n')).not.toContain('no room');
  expect((await readFile(bee.path('large'))).equals(await readFile(ant.path('large')))).toBe(true);
  await cluster.verified();
});

test('[ST2] a file at the place of the history is a problem, until it is removed', async () => {
  const cluster = await startCluster(['ant', 'bee']);
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await writeFile(ant.path('file'), 'old');
  await cluster.settled();
  await rm(bee.state('history'), { recursive: true });
  writeFileSync(bee.state('history'), 'a file');
  await appendFile(ant.path('file'), ', and new');
  await eventually(async () => expect(await bee.problems()).toEqual(['state-unusable']));
  expect((await lockstep(['status', bee.folder])).out).toMatch(/state-unusable .*\.lockstep\/history is needed/);
  expect((await ant.wait({ for: 2, timeoutMs: 200 })).done).toBe(false);
  await rm(bee.state('history'));
  await mkdir(bee.state('history'), { mode: 0o700 });
  await cluster.settled();
  expect(await readFile(bee.path('file'), 'utf8')).toBe('old, and new');
  await eventually(async () => expect(await bee.problems()).toEqual([]));
});

const journalFiles = ['journal.db', 'journal.db-wal', 'journal.db-shm'] as const;

test.each([
  ['all its files', journalFiles],
  ['the database', ['journal.db']],
  ['the write-ahead log', ['journal.db-wal']],
] as const)(
  '[JN13] the journal loses %s while the agent runs: it ends, and continues after a start',
  async (_, files) => {
    const cluster = await startCluster(['ant', 'bee']);
    const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
    await shell(ant.folder, 'echo 1 > kept; echo 2 > edited; echo 3 > deleted');
    await cluster.settled();
    const { member } = await ant.status();
    for (const file of files) rmSync(ant.state(file));
    await ant.ended();
    expect(ant.log.join('\n')).toMatch(/journal\.db\S* was removed or replaced while the agent ran/);
    // A journal that had to be rebuilt would bring the deleted file back, and make a conflict of the edit.
    await shell(ant.folder, 'echo changed > edited; rm deleted');
    await ant.start();
    await cluster.connected();
    expect(namesOf(await cluster.settled())).toEqual(['edited', 'kept']);
    expect(await readFile(bee.path('edited'), 'utf8')).toBe('changed\n');
    expect((await ant.status()).member.id).toBe(member.id);
    expect(ant.log.join('\n')).not.toContain('The journal was gone');
    await cluster.verified();
  },
);

test('commands say that the agent runs, and how it is started again, if its socket or its lock was removed', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  const process = `process ${ant.pid}`;
  await rm(ant.state('lock.db'));
  expect(await lockstep(['status', ant.folder])).toMatchObject({ code: 0, out: expect.stringContaining('ant') });
  await rm(ant.state('running.json'));
  expect(await lockstep(['status', ant.folder])).toMatchObject({ code: 0, out: expect.stringContaining('ant') });
  expect((await lockstep(['up', ant.folder])).err).toContain(`is already in use by ${process}. Stop that one first`);
  await rm(ant.state('api.sock'));
  const advice = new RegExp(`${process} and runs.*the file was removed.*kill ${ant.pid}.*lockstep up ${ant.folder}`);
  for (const command of ['status', 'members', 'wait', 'pause'])
    expect((await lockstep([command, ant.folder])).err).toMatch(advice);
  expect((await lockstep(['doctor', ant.folder])).out).toMatch(advice);
  expect((await lockstep(['up', ant.folder])).err).toContain(`is already in use by ${process}. Stop that one first`);
  await ant.kill();
  expect((await lockstep(['status', ant.folder])).err).toContain('No agent runs');
  await ant.start();
  expect(await lockstep(['status', ant.folder])).toMatchObject({ code: 0 });
});
