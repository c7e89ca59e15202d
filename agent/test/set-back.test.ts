import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Cluster } from '../../testkit/cluster.ts';
import { freePort } from '../../testkit/free-port.ts';
import type { Member } from '../../testkit/member.ts';
import { shell } from '../../testkit/programs.ts';
import { setBack } from '../../testkit/scenes/set-back.ts';
import type { Tree } from '../../testkit/tree.ts';
import { sceneTest } from '../../testkit/vitest/scene-test.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

/** Copies a stopped member's whole folder, its state included, as a snapshot of its machine would. */
async function snapshot(cluster: Cluster, member: Member): Promise<string> {
  const copy = join(cluster.root, `snapshot-${member.name}`);
  await shell(cluster.root, `cp -a ${member.folder} ${copy}`);
  return copy;
}

/** Restores the member's snapshot. The state directory itself is kept (the same inode), as on the disk of a virtual machine. */
async function restore(member: Member, copy: string): Promise<void> {
  await shell(member.folder, 'find . -mindepth 1 ! -path ./.lockstep -delete');
  await shell('/', `cp -a ${copy}/. ${member.folder}`);
}

/** The texts of all files of the tree, whatever their names are. */
async function textsOf(member: Member, tree: Tree): Promise<readonly string[]> {
  const files = [...tree].filter(([, { what }]) => what.startsWith('file')).map(([path]) => path);
  const texts = await Promise.all(files.map((path) => readFile(member.path(path), 'utf8')));
  return texts.map((text) => text.trim());
}

/** Starts three members with some files. A snapshot of cat is made, and then cat makes changes that the others receive. */
async function copiedAndGoneOn(): Promise<{ cluster: Cluster; cat: Member; copy: string }> {
  const cluster = await startCluster(['ant', 'bee', 'cat']);
  const cat = cluster.member('cat');
  await shell(cat.folder, 'for n in 1 2 3 4; do echo old $n > f$n; done');
  await cluster.settled();
  await cat.stop();
  const copy = await snapshot(cluster, cat);
  await cat.start();
  await cluster.connected();
  await shell(
    cat.folder,
    'echo branch one > f1; echo branch one too > new; rm f3; mkdir d; echo branch one in d > d/in',
  );
  await cluster.settled();
  return { cluster, cat, copy };
}

sceneTest('[FK2]', setBack);

test('[FK2] a member that is set back, and then only has another address, uses no number twice', async () => {
  const { cluster, cat, copy } = await copiedAndGoneOn();
  await Promise.all(cluster.members.map((member) => member.stop()));
  await restore(cat, copy);
  // DHCP has given it another address: its entry in the member list is the first operation that it journals.
  await cat.start({ args: ['--address', `127.0.0.1:${await freePort()}`] });
  for (const name of ['ant', 'bee']) await cluster.member(name).start();
  await cluster.connected();
  const tree = await cluster.settled();
  expect(await textsOf(cat, tree)).toEqual(
    expect.arrayContaining(['branch one', 'branch one too', 'branch one in d', 'old 2', 'old 4']),
  );
  expect(tree.has('f3')).toBe(false);
  await cluster.verified();
});

test('[LC33] a file that others deleted stays deleted if the restored files have other inode numbers', async () => {
  const cluster = await startCluster(['ant', 'bee', 'cat']);
  const cat = cluster.member('cat');
  await shell(cat.folder, 'for n in 1 2 3 4; do echo old > f$n; done; touch -d @1700000000 f?');
  await cluster.settled();
  await cat.stop();
  await shell(cluster.member('ant').folder, 'rm f2 f3');
  await cluster.settled();
  await Promise.all(cluster.running.map((member) => member.stop()));
  // In another order: if the file system reuses inode numbers, each file gets that of another one with equal content and time.
  await shell(
    cat.folder,
    'mkdir ../kept; cp -p f? ../kept; rm f?; for n in 3 1 4 2; do cp -p ../kept/f$n .; done; rm f4',
  );
  await cat.start();
  expect(await cat.wait({ for: 1 })).toMatchObject({ done: true });
  for (const name of ['ant', 'bee']) await cluster.member(name).start();
  await cluster.connected();
  const tree = await cluster.settled();
  expect(['f1', 'f2', 'f3', 'f4'].filter((name) => tree.has(name))).toEqual(['f1']);
  await cluster.verified();
});

test('[FK3] [FK5] two branches with the same numbers are detected, and the entries of both are kept', async () => {
  const cluster = await startCluster(['ant', 'bee', 'cat']);
  const [ant, bee, cat] = [cluster.member('ant'), cluster.member('bee'), cluster.member('cat')];
  await shell(cat.folder, 'for n in 1 2 3 4; do echo old $n > f$n; done');
  await cluster.settled();
  await Promise.all([bee.stop(), cat.stop()]);
  const copy = await snapshot(cluster, cat);
  await cat.start();
  await cluster.connected();
  // Only ant receives this, and only bee what cat writes after it was set back: bee confirms cat's numbers.
  await shell(
    cat.folder,
    'echo branch one > f1; echo branch one too > new; rm f3; mkdir d; echo branch one in d > d/in',
  );
  await cluster.settled();
  await shell(ant.folder, 'echo edited by ant > new');
  await cluster.settled();
  await Promise.all([ant.stop(), cat.stop()]);
  await restore(cat, copy);
  await bee.start();
  await cat.start();
  await cluster.connected();
  await shell(cat.folder, 'echo branch two > f1; echo branch two too > other; mkdir d; echo branch two in d > d/in');
  await cluster.settled();

  // The numbers that it waits for are cut off once ant is up.
  const waiting = cat.wait({ for: 'all', timeoutMs: 80_000 });
  await ant.start();
  await cluster.connected();
  expect(await waiting).toMatchObject({ done: true, holding: 3 });
  const tree = await cluster.settled();
  const texts = await textsOf(cat, tree);
  for (const branch of ['one', 'two'])
    expect(texts).toEqual(expect.arrayContaining([`branch ${branch}`, `branch ${branch} in d`]));
  expect(texts).toEqual(expect.arrayContaining(['edited by ant', 'branch two too', 'old 2', 'old 4']));
  expect(tree.has('f3')).toBe(false);
  await cluster.verified();
});

test('[FK2] ordinary restarts begin no new incarnation', async () => {
  const cluster = await startCluster(['ant', 'bee']);
  const ant = cluster.member('ant');
  await shell(ant.folder, 'echo first > a');
  await cluster.settled();
  for (let round = 0; round < 4; round++) {
    if (round % 2 === 0) await ant.stop();
    else await ant.kill();
    await ant.start();
    await cluster.connected();
    await shell(ant.folder, `echo ${round} > a`);
    await cluster.settled();
  }
  const { version } = await ant.status();
  expect(Object.keys(version)).toHaveLength(2);
});
