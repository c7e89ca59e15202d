import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import { btrfsDiskLacks, LoopDisk } from '../../testkit/machine/loop-disk.ts';
import { lockstep } from '../../testkit/member.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

const run = promisify(execFile);

// The kernel does not list it with the mounts: its problem came and went, and the command to accept it knew of none.
test.skipIf(btrfsDiskLacks)(
  '[WT20] [WT21] a btrfs subvolume in the place of a directory is a problem until a person accepts it (needs root and btrfs-progs)',
  async () => {
    const place = await mkdtemp(join(tmpdir(), 'lockstep-subvolume-'));
    onTestFinished(() => rm(place, { recursive: true, force: true }));
    const disk = await LoopDisk.make(place, 'btrfs');
    onTestFinished(() => disk.remove());
    const cluster = await startCluster(['ant']);
    const ant = cluster.member('ant');
    const cow = await cluster.add('cow', { folder: join(disk.directory, 'cow') });
    onTestFinished(() => cow.kill());
    await mkdir(cow.path('photos'));
    await writeFile(cow.path('photos/one'), 'one');
    await cluster.settled();
    const outside = join(disk.directory, 'made');
    await run('btrfs', ['subvolume', 'create', outside]);
    await writeFile(join(outside, 'one'), 'of the subvolume');
    await rename(cow.path('photos'), join(disk.directory, 'before'));
    await rename(outside, cow.path('photos'));
    await eventually(async () => expect(await cow.problems()).toEqual(['mount-changed']));
    expect(await readFile(ant.path('photos/one'), 'utf8')).toBe('one');
    await lockstep(['accept-mount', cow.path('photos')]);
    await eventually(async () => expect(await readFile(ant.path('photos/one'), 'utf8')).toBe('of the subvolume'));
    await cluster.settled();
    await eventually(async () => expect(await cow.problems()).toEqual([]));
  },
);
