import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { namesOf } from '../../testkit/tree.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee']);

test('[WT8] names that some file system treats as .lockstep are not replicated but reported, and all else continues', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  const names = ['.LOCKSTEP', '.loc\u212astep', '.lockstep.', 'LOCKST~1', 'a/.lockstep::$DATA'];
  await mkdir(ant.path('a'));
  for (const name of names) {
    await mkdir(ant.path(name));
    await writeFile(ant.path(name, 'identity.key'), name);
  }
  await writeFile(ant.path('a/file'), 'text');
  await ant.wait({ for: 'all' });
  await writeFile(bee.path('b'), 'text');
  await bee.wait({ for: 'all' });
  for (const name of names) expect(await readFile(ant.path(name, 'identity.key'), 'utf8')).toBe(name);
  expect(namesOf(bee.tree())).toEqual(['a', 'a/file', 'b']);
  const reserved = async (): Promise<readonly (string | undefined)[]> =>
    (await ant.status()).problems.filter(({ code }) => code === 'path-reserved').map(({ path }) => path);
  await expect.poll(async () => [...(await reserved())].sort()).toEqual([...names].sort());
  expect(await bee.problems()).toEqual([]);
});
