import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Cluster } from '../../testkit/cluster.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { run, shell } from '../../testkit/programs.ts';
import { diffTrees, namesOf, type Tree } from '../../testkit/tree.ts';
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

const sentBytes = async (members: readonly Member[]): Promise<number> => {
  const sums = await Promise.all(members.map((member) => member.metric('lockstep_peer_sent_bytes_total')));
  return sums.reduce((sum, bytes) => sum + bytes, 0);
};

describe.runIf(isRoot)('[WT6] a disk that goes away', () => {
  /** A member whose folder is on a disk of its own: `mountPoint` is the folder, or the directory above it. */
  async function onDisk(where: 'folder' | 'parent'): Promise<{ cluster: Cluster; bee: Member; mountPoint: string }> {
    const cluster = await startCluster(['ant', 'cat']);
    const mountPoint = join(cluster.root, where === 'folder' ? 'bee' : 'disk');
    await mkdir(mountPoint);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', mountPoint]);
    onTestFinished(async () => {
      while ((await run('mount', [])).includes(` ${mountPoint} `)) await run('umount', ['-l', mountPoint]);
    });
    const folder = where === 'folder' ? mountPoint : join(mountPoint, 'bee');
    const bee = await cluster.add('bee', { folder });
    await cluster.connected();
    await shell(cluster.member('ant').folder, fill);
    await cluster.settled();
    return { cluster, bee, mountPoint };
  }

  test.each(['folder', 'parent'] as const)('its %s is a mount that is taken away and comes back', async (where) => {
    const { cluster, bee, mountPoint } = await onDisk(where);
    const [ant, cat] = [cluster.member('ant'), cluster.member('cat')];
    const before = ant.tree();
    // The disk itself stays in another place, as a disk does that is unplugged: `mount --move` needs no quiet file system.
    const aside = join(cluster.root, 'aside');
    await mkdir(aside);
    await run('mount', ['--bind', mountPoint, aside]);
    onTestFinished(async () => {
      await run('umount', ['-l', aside]).catch(() => '');
    });
    await run('umount', ['-l', mountPoint]);
    await hasProblem(bee, 'folder-missing');
    await writeFile(ant.path('meanwhile'), 'written meanwhile');
    await ant.wait({ for: 2 });
    if (where === 'folder') expect(readdirSync(mountPoint)).toEqual([]);
    expect(namesOf(cat.tree())).toEqual(expect.arrayContaining(namesOf(before)));
    expect(namesOf(ant.tree())).toEqual(expect.arrayContaining(namesOf(before)));

    await run('mount', ['--bind', aside, mountPoint]);
    await hasNoProblem(bee);
    const after = await cluster.settled();
    expect(after.size).toBe(before.size + 1);
    expect(await readFile(bee.path('meanwhile'), 'utf8')).toBe('written meanwhile');
    await bee.kill();
  });
});

describe('[WT6] a folder that is not the one that was opened', () => {
  test('it is moved away and an empty one stands in its place; it comes back', async () => {
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

  test('its .lockstep is gone, or it was emptied by hand: nothing is deleted anywhere', async () => {
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
    cpSync(cluster.member('bee').folder, copy, { recursive: true, verbatimSymlinks: true });
    expect(await lockstep(['up', copy])).toMatchObject({ code: 1, err: expect.stringContaining('identity') });
  });
});

describe('[JN4] a journal that was lost or damaged', () => {
  const journalFiles = ['journal.db', 'journal.db-wal', 'journal.db-shm'];

  async function rebuilt(cluster: Cluster, bee: Member, before: Tree): Promise<void> {
    const sent = await sentBytes(cluster.members.filter((member) => member !== bee));
    await bee.start();
    await cluster.connected();
    const tree = await cluster.settled();
    expect(diffTrees(before, tree, ['before', 'after'])).toEqual([]);
    // Nothing is asked for. The little that travels inside the operations themselves (CT3) is 60 numbers and a word.
    expect((await sentBytes(cluster.members.filter((member) => member !== bee))) - sent).toBeLessThan(1_000);
    expect(await sentBytes([bee]), 'bytes offered').toBe(0);
    await cluster.verified();
  }

  test('lost, with the files intact: no delete, no copy, no content sent', async () => {
    const { cluster, tree } = await filled(['ant', 'bee', 'cat']);
    const bee = cluster.member('bee');
    await bee.stop();
    for (const name of journalFiles) rmSync(bee.state(name), { force: true });
    await rebuilt(cluster, bee, tree);
    expect(bee.log.join('\n')).toMatch(/The journal was gone\. It is being rebuilt from the folder/);
    expect(await bee.problems()).toEqual([]);
    // Its operations are numbered anew, and its next change is one like any other.
    await shell(bee.folder, 'echo changed > d/f1; rm d/f2; mv d/f3 moved');
    const after = await cluster.settled();
    expect(namesOf(after).filter((name) => name.includes('conflict'))).toEqual([]);
    expect(namesOf(after)).toContain('moved');
    expect(namesOf(after)).not.toContain('d/f2');
  });

  test('lost by the member that had made everything, while changes went on', async () => {
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

  test('lost: what others deleted meanwhile comes back, and of what was edited here both versions stay', async () => {
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

  test.each([
    ['a page in the middle', 3 * 4096],
    ['the header', 0],
    ['all of it', undefined],
  ])('damaged: %s', async (_what, offset) => {
    const { cluster, tree } = await filled(['ant', 'bee']);
    const bee = cluster.member('bee');
    await bee.stop();
    const path = bee.state('journal.db');
    const bytes = await readFile(path);
    if (offset !== undefined) {
      expect(bytes.length).toBeGreaterThan(offset + 4096);
      bytes.fill(0xa5, offset, offset + 4096);
    }
    writeFileSync(path, offset === undefined ? '' : bytes);
    rmSync(bee.state('journal.db-wal'), { force: true });
    await rebuilt(cluster, bee, tree);
    expect((await bee.status()).problems).toMatchObject([
      {
        code: 'journal-rebuilt',
        detail: expect.stringMatching(
          /^The journal was damaged \(.*\)\. It was put aside as .*damaged-.*; nothing in the folder was changed\. Check the disk/,
        ),
      },
    ]);
    const setAside = readdirSync(bee.state()).filter((name) => name.startsWith('journal.db.damaged-'));
    expect(setAside.length).toBeGreaterThan(0);
    for (const name of setAside) rmSync(bee.state(name));
    await vi.waitFor(async () => expect(await bee.problems()).toEqual([]), { timeout: 10_000, interval: 100 });
  });
});
