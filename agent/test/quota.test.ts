import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import { btrfsDiskLacks, LoopDisk } from '../../testkit/machine/loop-disk.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

const run = promisify(execFile);
const mebibyte = 1_048_576;
const files = 40;

// The kernel ended the agent (SIGBUS) when SQLite stored into a page of a mapped file, and there was no room for that page.
test.skipIf(btrfsDiskLacks)(
  '[MT10] a quota on btrfs that is used up is a lack of room, and ends no agent (needs root and btrfs-progs)',
  async () => {
    const place = await mkdtemp(join(tmpdir(), 'lockstep-quota-'));
    onTestFinished(() => rm(place, { recursive: true, force: true }));
    const disk = await LoopDisk.make(place, 'btrfs');
    onTestFinished(() => disk.remove());
    const volume = join(disk.directory, 'volume');
    await run('btrfs', ['quota', 'enable', disk.directory]);
    await run('btrfs', ['subvolume', 'create', volume]);
    await run('btrfs', ['qgroup', 'limit', '24M', volume]);
    const cluster = await startCluster(['ant']);
    const ant = cluster.member('ant');
    const cow = await cluster.add('cow', { folder: join(volume, 'cow') });
    onTestFinished(() => cow.kill());
    await cluster.connected();
    for (let index = 0; index < files; index++) await writeFile(ant.path(`file-${index}`), randomBytes(mebibyte));
    await eventually(async () => expect(await cow.problems()).toContain('disk-full'));
    await eventually(async () => expect(new Set(await cow.problems())).toEqual(new Set(['disk-full'])));
    await ant.put('one more', 'of ant');
    expect((await ant.wait({ for: 'all', timeoutMs: 1_000 })).done).toBe(false);
    await run('btrfs', ['qgroup', 'limit', 'none', volume]);
    // It tries again at growing intervals.
    await cluster.settled([ant, cow], 120_000);
    expect(cow.tree().size).toBe(files + 1);
    await eventually(async () => expect(await cow.problems()).toEqual([]));
  },
);
