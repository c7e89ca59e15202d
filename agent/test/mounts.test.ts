import { execFile } from 'node:child_process';
import { access, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Cluster } from '../../testkit/cluster.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { nestedMount } from '../../testkit/scenes/nested-mount.ts';
import { namesOf, subtree } from '../../testkit/tree.ts';
import { sceneTest } from '../../testkit/vitest/scene-test.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const mounted: string[] = [];

async function mount(target: string, ...how: readonly string[]): Promise<void> {
  await run('mount', [...how, target]);
  mounted.push(target);
}

async function unmount(target: string): Promise<void> {
  // The agent may have a directory open for a moment.
  await vi.waitFor(() => run('umount', [target]), patience);
  mounted.splice(mounted.lastIndexOf(target), 1);
}

afterEach(async () => {
  for (const target of [...mounted].reverse()) await unmount(target);
});

const tmpfs = ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs'];
const patience = { timeout: 20_000 };

async function pair(): Promise<{ readonly cluster: Cluster; readonly ant: Member; readonly bee: Member }> {
  const cluster = await startCluster(['ant', 'bee']);
  return { cluster, ant: cluster.member('ant'), bee: cluster.member('bee') };
}

const isChanged = (member: Member): Promise<void> =>
  vi.waitFor(async () => {
    const codes = await member.problems();
    expect(codes.filter((code) => code === 'mount-changed')).toHaveLength(1);
  }, patience);

const isAsBefore = (member: Member): Promise<void> =>
  vi.waitFor(async () => expect(await member.problems()).not.toContain('mount-changed'), patience);

const filesIn = (member: Member, directory: string) => namesOf(subtree(member.tree(), directory));

/** Mounts a disk at `left`, on which `fill` has made something, and a copy of it at `right`. Returns the image of the first. */
async function mountWithCopy(member: Member, fill: () => Promise<unknown>): Promise<string> {
  const [image, copy] = [member.state('left.img'), member.state('right.img')];
  await run('truncate', ['-s', '16M', image]);
  await run('mkfs.ext4', ['-q', image]);
  for (const name of ['left', 'right']) await mkdir(member.path(name));
  await mount(member.path('left'), '-o', 'loop', image);
  await fill();
  await unmount(member.path('left'));
  await run('cp', [image, copy]);
  await mount(member.path('left'), '-o', 'loop', image);
  await mount(member.path('right'), '-o', 'loop', copy);
  return image;
}

sceneTest('[WT20]', nestedMount);

describe.skipIf(!isRoot)('a disk inside the folder (needs root)', () => {
  test('[WT20] an unmounted image deletes nothing, and replication continues when it is back', async () => {
    const { cluster, ant, bee } = await pair();
    const image = ant.state('disk.img');
    await run('truncate', ['-s', '16M', image]);
    await run('mkfs.ext4', ['-q', image]);
    await mkdir(ant.path('image'));
    await mount(ant.path('image'), '-o', 'loop', image);
    for (const name of ['one', 'two']) await writeFile(ant.path('image', name), name);
    await cluster.settled();
    await unmount(ant.path('image'));
    await isChanged(ant);
    await writeFile(ant.path('image/under'), 'hidden by the mount');
    await writeFile(bee.path('image/three'), 'three');
    await ant.rescan();
    expect((await ant.wait({ for: 1, path: 'image', timeoutMs: 100 })).done).toBe(false);
    await writeFile(ant.path('elsewhere'), 'others go on');
    await vi.waitFor(async () => expect(await readFile(bee.path('elsewhere'), 'utf8')).toBe('others go on'), patience);
    await expect(access(ant.path('image/three'))).rejects.toThrow();
    await run('rm', [ant.path('image/under')]);
    await mount(ant.path('image'), '-o', 'loop', image);
    await isAsBefore(ant);
    await writeFile(ant.path('image/one'), 'after');
    await vi.waitFor(async () => expect(await readFile(bee.path('image/one'), 'utf8')).toBe('after'), patience);
    expect(filesIn(bee, 'image')).toEqual(expect.arrayContaining(['one', 'two', 'three']));
    expect(filesIn(bee, 'image')).not.toContain('under');
  });

  test('[WT20] the same while the agent was stopped', async () => {
    const { cluster, ant, bee } = await pair();
    const image = ant.state('other.img');
    await run('truncate', ['-s', '16M', image]);
    await run('mkfs.ext4', ['-q', image]);
    await mkdir(ant.path('stopped'));
    await mount(ant.path('stopped'), '-o', 'loop', image);
    await writeFile(ant.path('stopped/one'), 'one');
    await cluster.settled();
    await ant.stop();
    await unmount(ant.path('stopped'));
    await ant.start();
    await isChanged(ant);
    await ant.rescan();
    expect(filesIn(bee, 'stopped')).toContain('one');
    await mount(ant.path('stopped'), '-o', 'loop', image);
    await isAsBefore(ant);
    expect(filesIn(bee, 'stopped')).toContain('one');
  });

  test('[WT2] two disks, one a copy of the other, whose directories have the same inode numbers and birth times', async () => {
    const { cluster, ant, bee } = await pair();
    await mountWithCopy(ant, () => mkdir(ant.path('left/sub')));
    const [one, other] = await Promise.all(['left/sub', 'right/sub'].map((name) => stat(ant.path(name))));
    expect([one?.ino, one?.birthtimeMs]).toEqual([other?.ino, other?.birthtimeMs]);
    await ant.restart();
    await cluster.settled();
    for (const name of ['left', 'right']) {
      await writeFile(ant.path(name, 'sub/file'), name);
      await vi.waitFor(async () => expect(await readFile(bee.path(name, 'sub/file'), 'utf8')).toBe(name), patience);
    }
  });

  test('[WT20] a disk and its copy, one of them unmounted: nothing is deleted, and neither takes the place of the other', async () => {
    const { cluster, ant, bee } = await pair();
    const image = await mountWithCopy(ant, () => writeFile(ant.path('left/one'), 'one'));
    await vi.waitFor(() => expect([filesIn(bee, 'left'), filesIn(bee, 'right')].flat()).toHaveLength(4), patience);
    await cluster.settled();
    const accepted = async () => JSON.stringify(await readFile(ant.state('mounts.json'), 'utf8'));
    await vi.waitFor(async () => expect(await accepted()).toMatch(/left.*right|right.*left/), patience);
    await unmount(ant.path('left'));
    await isChanged(ant);
    await ant.rescan();
    expect(filesIn(bee, 'left')).toContain('one');
    await mount(ant.path('left'), '-o', 'loop', image);
    await isAsBefore(ant);
    await writeFile(ant.path('left/one'), 'after');
    await vi.waitFor(async () => expect(await readFile(bee.path('left/one'), 'utf8')).toBe('after'), patience);
    expect(await readFile(bee.path('right/one'), 'utf8')).toBe('one');
  });

  test('[WT21] a disk that is mounted at another name is missing at its own, until a person accepts that', async () => {
    const { cluster, ant, bee } = await pair();
    const image = ant.state('disk.img');
    await run('truncate', ['-s', '16M', image]);
    await run('mkfs.ext4', ['-q', image]);
    for (const name of ['usual', 'other']) await mkdir(ant.path(name));
    await mount(ant.path('usual'), '-o', 'loop', image);
    await writeFile(ant.path('usual/one'), 'one');
    await cluster.settled();
    await unmount(ant.path('usual'));
    await mount(ant.path('other'), '-o', 'loop', image);
    await vi.waitFor(() => expect(filesIn(bee, 'other')).toContain('one'), patience);
    await isChanged(ant);
    await ant.rescan();
    expect(filesIn(bee, 'usual')).toContain('one');
    expect(await lockstep(['accept-mount', ant.path('usual')])).toMatchObject({ code: 0 });
    await vi.waitFor(() => expect(filesIn(bee, 'usual')).not.toContain('one'), patience);
    expect(filesIn(bee, 'other')).toContain('one');
  });

  test.each([
    ['tmpfs', undefined],
    ['ext4 with birth times', '256'],
    ['ext4 without birth times', '128'],
  ])('[WT20] an empty disk in place of another one of its size deletes nothing: %s', async (_, inodeBytes) => {
    const { cluster, ant, bee } = await pair();
    const place = ant.path('disk');
    let images = 0;
    const mountEmpty = async (): Promise<void> => {
      if (inodeBytes === undefined) return mount(place, ...tmpfs);
      // Another image each time: the loop device of an earlier one may still have its blocks in memory.
      images += 1;
      const image = ant.state(`disk-${images}.img`);
      await run('truncate', ['-s', '16M', image]);
      await run('mkfs.ext4', ['-q', '-F', '-I', inodeBytes, image]);
      await mount(place, '-o', 'loop', image);
      expect(await readdir(place)).toEqual(['lost+found']);
    };
    await mkdir(place);
    await mountEmpty();
    await writeFile(ant.path('disk/one'), 'one');
    await cluster.settled();
    await unmount(place);
    await mountEmpty();
    await isChanged(ant);
    await ant.rescan();
    await ant.stop();
    await unmount(place);
    await mountEmpty();
    await ant.start();
    await isChanged(ant);
    await ant.rescan();
    expect(filesIn(bee, 'disk')).toContain('one');
  });

  test('[WT20] an empty directory of the same disk that is mounted over another deletes nothing and is not written to', async () => {
    const { cluster, ant, bee } = await pair();
    await mkdir(ant.path('plain'));
    await writeFile(ant.path('plain/file'), 'file');
    await cluster.settled();
    const source = ant.state('source');
    await mkdir(source);
    await mount(ant.path('plain'), '--bind', source);
    await isChanged(ant);
    await writeFile(ant.path('plain/in the way'), 'not of this folder');
    await writeFile(bee.path('plain/of bee'), 'of bee');
    await ant.rescan();
    await writeFile(ant.path('after'), 'x');
    await vi.waitFor(() => access(bee.path('after')), patience);
    expect(filesIn(bee, 'plain')).toEqual(['file', 'of bee']);
    await expect(access(ant.path('plain/of bee'))).rejects.toThrow();
    await unmount(ant.path('plain'));
    await isAsBefore(ant);
    await vi.waitFor(() => access(ant.path('plain/of bee')), patience);
    expect(filesIn(bee, 'plain')).toEqual(['file', 'of bee']);
  });

  test('[WT21] a command accepts the current content of a mount point: missing files are deleted then', async () => {
    const { cluster, ant, bee } = await pair();
    await mkdir(ant.path('photos'));
    await mount(ant.path('photos'), ...tmpfs);
    await writeFile(ant.path('photos/one'), 'one');
    await cluster.settled();
    await unmount(ant.path('photos'));
    await isChanged(ant);
    await lockstep(['accept-mount', ant.path('photos')]);
    await vi.waitFor(() => expect(filesIn(bee, 'photos')).toEqual([]), patience);
    await isAsBefore(ant);
  });

  test('[WT21] a mount moves with a renamed parent directory', async () => {
    const { cluster, ant, bee } = await pair();
    await mkdir(ant.path('before/disk'), { recursive: true });
    await mount(ant.path('before/disk'), ...tmpfs);
    await writeFile(ant.path('before/disk/one'), 'one');
    await cluster.settled();
    await rename(ant.path('before'), ant.path('after'));
    mounted.splice(mounted.indexOf(ant.path('before/disk')), 1, ant.path('after/disk'));
    await vi.waitFor(() => expect(filesIn(bee, 'after')).toContain('disk/one'), patience);
    await isAsBefore(ant);
    await vi.waitFor(() => expect(namesOf(bee.tree())).not.toContain('before/disk/one'), patience);
  });

  test('[MT30] changes by others to a disk inside the folder are reported as a problem', async () => {
    const { cluster, ant, bee } = await pair();
    await mkdir(ant.path('nested'));
    await mount(ant.path('nested'), ...tmpfs);
    await writeFile(ant.path('nested/one'), 'one');
    await cluster.settled();
    await writeFile(bee.path('nested/two'), 'two');
    await vi.waitFor(async () => expect(await ant.problems()).toContain('path-in-the-way'), patience);
  });
});
