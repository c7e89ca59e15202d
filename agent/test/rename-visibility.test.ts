import { lstat, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Member } from '../../testkit/member.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee']);

const filesInTree = 1_500;

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}

/** The states of two names that a reader of the folder sees, which checks as fast as it can until `done`. */
async function watchNames(
  member: Member,
  names: readonly [string, string],
  done: () => Promise<boolean>,
): Promise<Set<string>> {
  const seen = new Set<string>();
  const [before, after] = names.map((name) => member.path(name)) as [string, string];
  while (!(await done())) {
    // The new name is checked first and last: an entry that moves between two checks is not taken for a missing one.
    const [first, old, last] = [await exists(after), await exists(before), await exists(after)];
    if (!old && !last) seen.add('neither');
    if (first && old && (await exists(before))) seen.add('both');
    seen.add(old ? 'old' : 'new');
  }
  return seen;
}

async function receivedBytes(member: Member): Promise<number> {
  return await member.metric('lockstep_peer_received_bytes_total');
}

async function makeTree(member: Member, name: string): Promise<void> {
  await mkdir(member.path(`${name}/deep`), { recursive: true });
  for (let index = 0; index < filesInTree; index++)
    await writeFile(member.path(`${name}/f${index}`), `content ${index}`);
  await writeFile(member.path(`${name}/deep/g`), 'deep');
  await symlink('deep/g', member.path(`${name}/link`));
}

test('[LC12][MT11] a reader of the receiver’s folder sees the old name of a directory or the new one', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  await makeTree(ant, 'whole');
  await cluster().settled();
  const seen = new Set<string>();
  let [name, next] = ['whole', 'moved'];
  // On a slow machine the operations of one rename may come too far apart: then its entries are moved one by one.
  const keepsInode = async (): Promise<boolean> => {
    const [from, to] = [name, next];
    const inode = (await lstat(bee.path(from))).ino;
    const watching = watchNames(bee, [from, to], () => exists(bee.path(`${to}/link`)));
    await rename(ant.path(from), ant.path(to));
    for (const state of await watching) seen.add(state);
    await cluster().settled();
    [name, next] = [to, from];
    return (await lstat(bee.path(to))).ino === inode;
  };
  await expect.poll(keepsInode, { timeout: 150_000 }).toBe(true);
  expect(seen).not.toContain('neither');
  await rm(ant.path(name), { recursive: true });
});

test('[MT14] the same for a file and a link that are renamed to one name repeatedly', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  for (const make of [(path: string) => writeFile(path, path), (path: string) => symlink('t', path)]) {
    await make(ant.path('a'));
    await cluster().settled();
    for (let round = 0; round < 4; round++) {
      const [from, to] = round % 2 === 0 ? ['a', 'b'] : ['b', 'a'];
      const watching = watchNames(
        bee,
        [from as string, to as string],
        async () => !(await exists(bee.path(from as string))),
      );
      await rename(ant.path(from as string), ant.path(to as string));
      const seen = await watching;
      expect(seen).not.toContain('neither');
      expect(seen).not.toContain('both');
      await cluster().settled();
    }
    await rm(ant.path('a'));
    await cluster().settled();
  }
});

test('[MT15] a directory with an ignored entry of the receiver is moved entry by entry, and fetches nothing', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  await writeFile(ant.path('.lockstepignore'), 'own-*\n');
  await makeTree(ant, 'mixed');
  await cluster().settled();
  await expect.poll(() => bee.get('/paths/own-notes')).toMatchObject({ ignored: true });
  await writeFile(bee.path('mixed/own-notes'), 'mine');
  const inode = (await lstat(bee.path('mixed/f7'))).ino;
  const received = await receivedBytes(bee);
  const watching = watchNames(bee, ['mixed/f7', 'sorted/f7'], () => exists(bee.path('sorted/link')));
  await rename(ant.path('mixed'), ant.path('sorted'));
  const seen = await watching;
  expect(seen).not.toContain('neither');
  expect(seen).not.toContain('both');
  expect(await bee.wait({ for: 'all' })).toMatchObject({ done: true });
  expect((await lstat(bee.path('sorted/f7'))).ino).toBe(inode);
  expect(await exists(bee.path('mixed/own-notes'))).toBe(true);
  expect(await receivedBytes(bee)).toBe(received);
});
