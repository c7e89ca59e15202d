import { existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Cluster } from '../../testkit/cluster.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { run, shell } from '../../testkit/programs.ts';
import { unmounted } from '../../testkit/scenes/disks.ts';
import { journalDamaged, journalDeleted } from '../../testkit/scenes/journals.ts';
import { diffTrees, namesOf, type Tree } from '../../testkit/tree.ts';
import { sceneTest } from '../../testkit/vitest/scene-test.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

const isRoot = process.getuid?.() === 0;

const fill =
  'mkdir -p d/e; for n in $(seq 60); do echo $n > d/f$n; done; echo deep > d/e/deep; head -c 3000000 /dev/zero > zeros; ln -s d link';

async function filled(names: readonly string[]): Promise<{ cluster: Cluster; tree: Tree }> {
  const cluster = await startCluster(names);
  await shell(cluster.member('ant').folder, fill);
  return { cluster, tree: await cluster.settled() };
}

const hasProblem = (member: Member, code: string) =>
  vi.waitFor(async () => expect(await member.problems()).toContain(code), { timeout: 20_000, interval: 100 });

const hasNoProblem = (member: Member) =>
  vi.waitFor(async () => expect(await member.problems()).toEqual([]), { timeout: 20_000, interval: 100 });

sceneTest('[WT6]', unmounted);

test.runIf(isRoot)('[WT6] a folder that is itself a mount is removed and comes back', async () => {
  const cluster = await startCluster(['ant', 'cat']);
  const [ant, cat] = [cluster.member('ant'), cluster.member('cat')];
  const folder = join(cluster.root, 'bee');
  // The disk itself stays mounted elsewhere, like one that is unplugged: `mount --move` works while the file system is in use.
  const aside = join(cluster.root, 'aside');
  for (const path of [folder, aside]) await mkdir(path);
  await run('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', aside]);
  await run('mount', ['--bind', aside, folder]);
  onTestFinished(async () => {
    for (const path of [folder, aside]) await run('umount', ['-l', path]);
  });
  const bee = await cluster.add('bee', { folder });
  await cluster.connected();
  await shell(ant.folder, fill);
  const before = await cluster.settled();
  await run('umount', ['-l', folder]);
  await hasProblem(bee, 'folder-missing');
  await writeFile(ant.path('meanwhile'), 'written meanwhile');
  await ant.wait({ for: 2 });
  expect(readdirSync(folder)).toEqual([]);
  await expect.poll(async () => (await bee.status()).freeBytes).toBeUndefined();
  await expect
    .poll(async () => (await ant.status()).members.find(({ name }) => name === 'bee')?.freeBytes)
    .toBeUndefined();
  for (const member of [ant, cat]) expect(namesOf(member.tree())).toEqual(expect.arrayContaining(namesOf(before)));

  await run('mount', ['--bind', aside, folder]);
  await hasNoProblem(bee);
  const after = await cluster.settled();
  expect(after.size).toBe(before.size + 1);
  expect(await readFile(bee.path('meanwhile'), 'utf8')).toBe('written meanwhile');
  await bee.kill();
});

describe('[WT6] a folder that is no longer the opened one', () => {
  test('it is moved away and replaced by an empty one; it comes back', async () => {
    const { cluster, tree } = await filled(['ant', 'bee', 'cat']);
    const bee = cluster.member('bee');
    const aside = join(cluster.root, 'aside');
    await rename(bee.folder, aside);
    await mkdir(bee.folder);
    await hasProblem(bee, 'folder-missing');
    await writeFile(cluster.member('ant').path('meanwhile'), 'written meanwhile');
    await cluster.member('ant').wait({ for: 2 });
    expect(readdirSync(bee.folder)).toEqual([]);
    for (const name of ['ant', 'cat']) {
      expect(diffTrees(tree, cluster.member(name).tree(), ['before', name])).toHaveLength(1);
    }
    await rm(bee.folder, { recursive: true });
    await rename(aside, bee.folder);
    await hasNoProblem(bee);
    await cluster.settled();
    expect(existsSync(bee.path('meanwhile'))).toBe(true);
  });

  test('its .lockstep is removed, or it is emptied by hand: nothing is deleted anywhere', async () => {
    const { cluster, tree } = await filled(['ant', 'bee']);
    const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
    await rename(bee.state(), join(cluster.root, 'state'));
    for (const name of readdirSync(bee.folder)) rmSync(bee.path(name), { recursive: true });
    await hasProblem(bee, 'folder-missing');
    await writeFile(ant.path('marker'), 'marker');
    await ant.wait({ for: 1 });
    expect(diffTrees(tree, ant.tree(), ['before', 'ant'])).toHaveLength(1);
    expect(readdirSync(bee.folder)).toEqual([]);
  });

  test('a copied folder is not started as a second member of the same identity', async () => {
    const { cluster } = await filled(['ant', 'bee']);
    const copy = join(cluster.root, 'copy');
    await run('cp', ['-a', cluster.member('bee').folder, copy]);
    expect(await lockstep(['up', copy])).toMatchObject({ code: 1, err: expect.stringContaining('identity') });
  });
});

describe('[JN4] a journal that was lost or damaged', () => {
  const journalFiles = ['journal.db', 'journal.db-wal', 'journal.db-shm'];

  test('lost by the member that has written everything, while changes continue', async () => {
    const { cluster } = await filled(['ant', 'bee', 'cat']);
    const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
    await ant.kill();
    for (const name of journalFiles) rmSync(ant.state(name), { force: true });
    await shell(bee.folder, 'rm d/f1; echo changed > d/f2; mv d/e d/g');
    await bee.wait({ for: 2 });
    await ant.start();
    await cluster.connected();
    const tree = await cluster.settled();
    expect(namesOf(tree)).toContain('d/g/deep');
    expect(await readFile(ant.path('d/f2'), 'utf8')).toBe('changed\n');
    await cluster.verified();
  });

  test('lost: files that others deleted meanwhile come back, and of files that were edited here both versions stay', async () => {
    const { cluster } = await filled(['ant', 'bee', 'cat']);
    const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
    const old = await readFile(bee.path('d/f2'), 'utf8');
    await bee.stop();
    for (const name of journalFiles) rmSync(bee.state(name), { force: true });
    await shell(bee.folder, 'echo edited > d/f2');
    await shell(ant.folder, 'rm d/f1');
    await ant.wait({ for: 2 });
    await bee.start();
    await cluster.connected();
    const names = namesOf(await cluster.settled());
    expect(names).toContain('d/f1');
    const versions = names.filter((name) => /^d\/f2(\.conflict-.*)?$/.test(name));
    const texts = await Promise.all(versions.map((name) => readFile(ant.path(name), 'utf8')));
    expect(texts.sort()).toEqual([old, 'edited\n'].sort());
    await cluster.verified();
  });
});

sceneTest('[JN4]', journalDeleted);
sceneTest('[JN4]', journalDamaged);
