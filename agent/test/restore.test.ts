import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Cluster } from '../../testkit/cluster.ts';
import { lockstep, Member } from '../../testkit/member.ts';
import { run, shell } from '../../testkit/programs.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';
import { SqliteDatabase } from '../src/os/sqlite.ts';

/** The files of the state directory that docs/OPERATIONS.md says to back up: identity, cluster key and settings. */
const identityFiles = ['cluster.key', 'config.toml', 'identity.key', 'identity.crt'];

/** Starts ant and bee, with some files that both hold. */
async function filled(): Promise<{ cluster: Cluster; ant: Member; bee: Member }> {
  const cluster = await startCluster(['ant', 'bee']);
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await shell(ant.folder, 'mkdir d; for n in 1 2 3 4; do echo $n > d/f$n; done');
  await cluster.settled();
  return { cluster, ant, bee };
}

/** Copies the identity files of a member. */
async function keepIdentity(member: Member, backup: string): Promise<void> {
  mkdirSync(backup);
  for (const name of identityFiles) await copyFile(member.state(name), join(backup, name));
}

/** Makes a backup of the files with their exact times: a file with another time counts as changed. */
async function copyFiles(from: string, to: string): Promise<void> {
  mkdirSync(to);
  const names = readdirSync(from).filter((name) => name !== '.lockstep');
  await run('cp', ['-a', ...names.map((name) => join(from, name)), to]);
}

/** Makes the lost member again in `folder`, with the state directory `state` from a backup. It is not started. */
function restored(cluster: Cluster, lost: Member, folder: string, state: string): Member {
  cpSync(state, join(folder, '.lockstep'), { recursive: true });
  const place = { name: lost.name, folder, port: lost.port, dashboardPort: Number(new URL(lost.url).port) };
  const member = new Member(place, {});
  cluster.members.splice(cluster.members.indexOf(lost), 1, member);
  return member;
}

test('[CL2] [JN4] from its files and its identity: the same member continues, nothing is deleted, and both versions stay', async () => {
  const { cluster, ant, bee } = await filled();
  const { id } = (await bee.status()).member;
  const [files, state] = [join(cluster.root, 'files'), join(cluster.root, 'state')];
  await keepIdentity(bee, state);
  await copyFiles(bee.folder, files);
  await shell(bee.folder, 'echo after the backup > d/f1; echo new > d/new');
  await cluster.settled();
  await bee.kill();
  await rm(bee.folder, { recursive: true });
  await shell(ant.folder, 'echo meanwhile > d/f2');

  const again = restored(cluster, bee, files, state);
  expect(await lockstep(['up', files])).toMatchObject({ code: 1, err: expect.stringContaining('up --adopt') });
  await again.start({ args: ['--adopt'] });
  await cluster.connected();
  const names = [...(await cluster.settled()).keys()];
  expect((await again.status()).member.id).toBe(id);
  expect(names).toEqual(expect.arrayContaining(['d/f1', 'd/f2', 'd/f3', 'd/f4', 'd/new']));
  const texts = await Promise.all(
    names.filter((name) => /d\/f[12]/.test(name)).map((name) => readFile(ant.path(name), 'utf8')),
  );
  expect(texts).toEqual(expect.arrayContaining(['after the backup\n', 'meanwhile\n']));
  await cluster.verified();
});

test('[MB7] from its identity alone: everything comes from the others, and a machine that is lost for good can be retired', async () => {
  const { cluster, ant, bee } = await filled();
  const state = join(cluster.root, 'state');
  await keepIdentity(bee, state);
  await bee.kill();
  await rm(bee.folder, { recursive: true });

  const empty = join(cluster.root, 'empty');
  mkdirSync(empty);
  const again = restored(cluster, bee, empty, state);
  await again.start({ args: ['--adopt'] });
  await cluster.connected();
  expect((await cluster.settled()).has('d/f4')).toBe(true);
  expect(await lockstep(['leave', empty])).toMatchObject({ code: 0 });
  await again.ended();
  await writeFile(ant.path('later'), 'later');
  expect(await ant.wait({ for: 'all' })).toMatchObject({ done: true, members: 1 });
});

test('[JN4] with its journal, copied while it ran: it begins new numbers, and later changes come from the others', async () => {
  const { cluster, bee } = await filled();
  const { origin } = (await bee.status()).member;
  const [files, state] = [join(cluster.root, 'files'), join(cluster.root, 'state')];
  await keepIdentity(bee, state);
  const journal = new SqliteDatabase(bee.state('journal.db'), { readonly: true });
  await journal.backup(join(state, 'journal.db'));
  journal.close();
  await copyFiles(bee.folder, files);
  await shell(bee.folder, 'echo after the backup > d/f1; rm d/f2; echo new > d/new');
  await cluster.settled();
  await bee.kill();
  await rm(bee.folder, { recursive: true });

  const again = restored(cluster, bee, files, state);
  await again.start({ args: ['--adopt'] });
  await cluster.connected();
  const tree = await cluster.settled();
  expect((await again.status()).member.origin).not.toBe(origin);
  expect([...tree.keys()].filter((name) => name.startsWith('d/')).sort()).toEqual(['d/f1', 'd/f3', 'd/f4', 'd/new']);
  expect(await readFile(again.path('d/f1'), 'utf8')).toBe('after the backup\n');
  await cluster.verified();
});

test('[MB3] a leaked key is replaced on all members while they are stopped, and the old one opens no session any more', async () => {
  const { cluster, ant, bee } = await filled();
  await Promise.all([ant.stop(), bee.stop()]);
  const other = join(cluster.root, 'other');
  mkdirSync(other);
  expect(await lockstep(['init', other])).toMatchObject({ code: 0 });
  const newKey = join(other, '.lockstep', 'cluster.key');
  await copyFile(newKey, ant.state('cluster.key'));
  await ant.start();
  await bee.start({ ready: false });
  const refused = async () => expect(await ant.problems()).toContain('member-refused');
  await vi.waitFor(refused, { timeout: 60_000, interval: 100 });
  await bee.stop();
  await copyFile(newKey, bee.state('cluster.key'));
  await writeFile(ant.path('under the new key'), 'new');
  await bee.start();
  await cluster.connected();
  for (const member of [ant, bee])
    await vi.waitFor(async () => expect(await member.problems()).not.toContain('member-refused'), 20_000);
  expect((await cluster.settled()).has('under the new key')).toBe(true);
});
