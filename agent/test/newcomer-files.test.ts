import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lockstep } from '../../testkit/member.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant']);

test('[CL8] init and the first up of a newcomer say how many files it has, and what happens to them', async () => {
  const [ant] = [cluster().member('ant')];
  const folder = async (name: string): Promise<string> => {
    const path = join(cluster().root, name);
    await mkdir(join(path, 'd'), { recursive: true });
    for (const file of ['a', 'b', 'd/c']) await writeFile(join(path, file), file);
    return path;
  };
  const key = ['--cluster-key-file', ant.state('cluster.key'), '--peer', ant.address];
  const said = await lockstep(['init', await folder('bee'), '--name', 'bee', ...key]);
  expect(said.out).toContain(
    'This folder contains 3 files. Lockstep treats them as new: one that the other members deleted comes back',
  );
  // Its input ends at once, so it stops as soon as it has started.
  const up = await lockstep([
    'up',
    join(cluster().root, 'bee'),
    '--stop-with-input',
    '--listen',
    '127.0.0.1:0',
    '--dashboard',
    '127.0.0.1:0',
  ]);
  expect(up.out).toContain('This folder contains 3 files.');
  const json = await lockstep(['init', await folder('cat'), '--name', 'cat', '--json', ...key]);
  expect(JSON.parse(json.out)).toMatchObject({ name: 'cat' });
  expect((await lockstep(['init', await folder('dog'), '--name', 'dog'])).out).not.toContain('treats them as new');
});
