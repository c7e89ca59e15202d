import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import { run } from '../../testkit/programs.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

const lacksMergerfs = spawnSync('sh', ['-c', 'command -v mergerfs && test -w /dev/fuse']).status !== 0;

// mergerfs gives each name of a file an inode number of its own: no file was ever replaced.
test.skipIf(lacksMergerfs)('[MT4] a member on a FUSE disk replaces files (needs mergerfs)', async () => {
  const place = await mkdtemp(join(tmpdir(), 'lockstep-fuse-'));
  onTestFinished(() => rm(place, { recursive: true, force: true }));
  const [source, disk] = [join(place, 'source'), join(place, 'disk')];
  await mkdir(source);
  await mkdir(disk);
  await run('mergerfs', [source, disk]);
  onTestFinished(() => eventually(() => run('umount', [disk])).then(() => undefined));
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  const cow = await cluster.add('cow', { folder: join(disk, 'cow') });
  onTestFinished(() => cow.kill());
  await cluster.connected();
  await ant.put('notes', 'first');
  await cluster.settled([ant, cow]);
  await ant.put('notes', 'second, longer');
  await cluster.settled([ant, cow]);
  expect(cow.tree()).toEqual(ant.tree());
});
