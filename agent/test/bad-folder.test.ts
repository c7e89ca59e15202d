import { readdirSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { LoopDisk, xfsDiskLacks } from '../../testkit/machine/loop-disk.ts';
import { asNobody, giveToNobody, isRoot } from '../../testkit/machine/unprivileged.ts';
import { lockstep } from '../../testkit/member.ts';
import { run } from '../../testkit/programs.ts';
import { readOnly } from '../../testkit/scenes/disks.ts';
import { sceneTest } from '../../testkit/vitest/scene-test.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const patience = { timeout: 20_000, interval: 100 };

const cluster = useCluster(['ant']);

/** The outcome of a command that fails with `sentence`. */
const refusedWith = (sentence: string) => ({ code: 1, out: '', err: expect.stringContaining(sentence) });

test('[CL5] a folder that does not exist, or is none: the message says which one it is', async () => {
  const none = join(cluster().root, 'none');
  expect(await lockstep(['up', none])).toEqual(refusedWith(`${none} does not exist. Name a member's folder.`));
  // The mount point of a disk that is not mounted looks like this: to make it a member's would begin another cluster below the disk.
  expect(await lockstep(['up', cluster().root])).toEqual(
    refusedWith('If it is on a disk that is not mounted, mount that; otherwise make it one with `lockstep init`.'),
  );
  const file = join(cluster().root, 'file');
  await writeFile(file, 'text');
  expect(await lockstep(['init', file])).toEqual(
    refusedWith(`${file} is not a directory. Name the folder to keep the same.`),
  );
  for (const args of [
    ['status', file],
    ['why', 'notes', file],
  ]) {
    expect(await lockstep(args)).toEqual(refusedWith(`${file} is not a directory. Name a member's folder`));
  }
  // Node's recursive mkdir would never return there.
  expect(await lockstep(['init', '/proc/none/below'])).toEqual(
    refusedWith('/proc/none/below does not exist and cannot be made (ENOENT).'),
  );
  expect(readdirSync(cluster().root).sort()).toEqual(['ant', 'file']);
});

describe.runIf(isRoot)('[CL5] a folder that cannot be written', () => {
  test('[DR8] doctor says that another user cannot read which members there are, and who may', async () => {
    await chmod(cluster().root, 0o755);
    const theirs = join(cluster().root, 'closed');
    await mkdir(theirs, { mode: 0o777 });
    await chmod(theirs, 0o777);
    expect((await lockstep(['init', theirs, '--name', 'theirs', '--listen', '127.0.0.1:0'])).code).toBe(0);
    const { out } = await lockstep(['doctor', theirs], { wrapper: asNobody });
    expect(out).toContain(`This user cannot read in ${theirs}/.lockstep which other members there are.`);
    expect(out).not.toContain('No other member is known');
    expect(out).toContain('Run as its owner, the user 0, or give it to this user, as root: chown -R');
  });

  test('init and up say which user needs which permission', async () => {
    await chmod(cluster().root, 0o755);
    const theirs = join(cluster().root, 'theirs');
    await mkdir(theirs, { mode: 0o755 });
    const options = { wrapper: asNobody };
    expect(await lockstep(['init', theirs], options)).toEqual(
      refusedWith(`${theirs} cannot be written (EACCES). Run as its owner, or give it to this user`),
    );
    expect(readdirSync(theirs)).toEqual([]);
    expect((await lockstep(['init', theirs, '--name', 'theirs', '--listen', '127.0.0.1:0'])).code).toBe(0);
    expect(await lockstep(['up', theirs], options)).toEqual(
      refusedWith(
        `${theirs}/.lockstep/config.toml cannot be read (EACCES). Give this user the right to read it, or run as its owner.`,
      ),
    );
    // An agent may run there.
    for (const command of ['status', 'wait', 'pause']) {
      expect(await lockstep([command, theirs], options)).toEqual(
        refusedWith(`${theirs}/.lockstep cannot be opened (EACCES). Run the command as the user of the agent.`),
      );
    }
    // It may be the folder of a member: a message that denies this and advises init would mislead.
    await chmod(theirs, 0o700);
    for (const folder of [theirs, join(theirs, 'below')]) {
      expect(await lockstep(['up', folder], options)).toEqual(
        refusedWith(`${folder} cannot be opened (EACCES). Run as`),
      );
    }
  });

  test.each(['history', 'staging'])('a directory of its state has mode 000: up names that directory', async (name) => {
    await chmod(cluster().root, 0o755);
    const closed = join(cluster().root, `closed-${name}`);
    await mkdir(closed);
    expect((await lockstep(['init', closed, '--name', 'closed', '--listen', '127.0.0.1:0'])).code).toBe(0);
    await giveToNobody(closed);
    const directory = join(closed, '.lockstep', name);
    await chmod(directory, 0);
    const { code, err } = await lockstep(['up', closed], { wrapper: asNobody });
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(
        `${directory} cannot be read or written: give the agent's user permission for it and its directory.`,
      ),
    ]);
  });

  test('its disk is mounted read-only', async () => {
    const disk = join(cluster().root, 'disk');
    await mkdir(disk);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', disk]);
    onTestFinished(async () => {
      await run('umount', ['-l', disk]);
    });
    const [member, empty] = [join(disk, 'member'), join(disk, 'empty')];
    for (const folder of [member, empty]) await mkdir(folder);
    expect((await lockstep(['init', member, '--name', 'member', '--listen', '127.0.0.1:0'])).code).toBe(0);
    await run('mount', ['-o', 'remount,ro', disk]);
    expect(await lockstep(['init', empty])).toEqual(
      refusedWith(`${empty} cannot be written (EROFS). The disk is mounted read-only: mount it for writing.`),
    );
    expect(await lockstep(['up', member])).toEqual(
      refusedWith(`${member}/.lockstep/lock.db cannot be locked (SQLITE_CANTOPEN). Make it and its directory writable`),
    );
    // A member that ran there before has a lock.
    await run('mount', ['-o', 'remount,rw', disk]);
    expect((await lockstep(['log', member])).code).toBe(0);
    await run('mount', ['-o', 'remount,ro', disk]);
    for (const command of ['up', 'log']) {
      expect(await lockstep([command, member])).toEqual(
        refusedWith(
          `${member}/.lockstep/running.json cannot be written (EROFS). The disk is mounted read-only: mount it`,
        ),
      );
    }
  });
});

sceneTest('[WT6]', readOnly);

test.runIf(isRoot)('[LC15] unreadable entries are reported, and a starting member does not wait for them', async () => {
  const folder = join(cluster().root, 'cat');
  const cat = await cluster().add('cat', { up: false, start: { wrapper: asNobody } });
  await giveToNobody(folder);
  // They belong to root: the user nobody may not read them.
  await writeFile(cat.path('secret'), 'secret', { mode: 0o600 });
  await mkdir(cat.path('closed'), { mode: 0o700 });
  await writeFile(cat.path('closed', 'inside'), 'inside');
  await cat.start();
  await cluster().connected();
  await vi.waitFor(async () => {
    expect((await cat.status()).problems.map(({ code, path }) => [code, path])).toEqual(
      expect.arrayContaining([
        ['path-permission', 'secret'],
        ['path-permission', 'closed'],
      ]),
    );
  }, patience);
  await writeFile(cluster().member('ant').path('later'), 'later');
  await vi.waitFor(async () => expect(await readFile(cat.path('later'), 'utf8')).toBe('later'), patience);
  await giveToNobody(folder);
  await cluster().settled();
  await vi.waitFor(async () => expect(await cat.problems()).toEqual([]), patience);
  expect(await readFile(cluster().member('ant').path('closed', 'inside'), 'utf8')).toBe('inside');
});

test.skipIf(xfsDiskLacks !== undefined)(
  '[CL5] a folder whose disk has failed: the message names the disk, not the rights',
  async () => {
    const disk = await LoopDisk.make(join(cluster().root, 'xfs'), 'xfs');
    onTestFinished(() => disk.remove());
    const member = join(disk.directory, 'member');
    expect((await lockstep(['init', member, '--name', 'member', '--listen', '127.0.0.1:0'])).code).toBe(0);
    await run('xfs_io', ['-x', '-c', 'shutdown', disk.directory]);
    const failed = (path: string) =>
      refusedWith(`${path} cannot be read or written because of its disk (EIO). Check that the disk is connected`);
    for (const command of ['init', 'up', 'status', 'log', 'verify', 'doctor']) {
      expect(await lockstep([command, member]), command).toEqual(failed(member));
    }
    const notes = join(member, 'notes');
    expect(await lockstep(['why', notes])).toEqual(failed(notes));
  },
);
