import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { open, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import { LoopDisk, loopDiskLacks, xfsDiskLacks } from '../../testkit/machine/loop-disk.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { Mount } from '../../testkit/mount.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const mebibyte = 1_048_576;
const film = randomBytes(16 * mebibyte);
const part = randomBytes(4_096);

describe('a small change of a file that takes two thirds of the cache (root, loop devices)', () => {
  const cluster = useCluster(['ant']);

  /** A member on demand on a disk of its own, with the film in its mount. */
  async function withFilm(fileSystem: 'ext4' | 'xfs'): Promise<{ member: Member; mount: Mount }> {
    const root = mkdtempSync(join(tmpdir(), 'lockstep-room-'));
    const disk = await LoopDisk.make(root, fileSystem);
    const env = { LOCKSTEP_CONTENT: 'on-demand', LOCKSTEP_CACHE_SIZE: '24 MiB' };
    const member = await cluster().add(fileSystem, { folder: join(disk.directory, 'folder'), start: { env } });
    const mount = await Mount.open(member, join(root, 'point'));
    onTestFinished(async () => {
      await mount.close();
      await member.kill();
      await disk.remove();
      rmSync(root, { recursive: true });
    });
    await writeFile(mount.path(`film-${fileSystem}`), film);
    await eventually(async () => {
      expect((await readFile(cluster().member('ant').path(`film-${fileSystem}`))).equals(film)).toBe(true);
    });
    return { member, mount };
  }

  test.skipIf(xfsDiskLacks)('[OD25] is done where the draft shares the blocks of the file', async () => {
    const { member, mount } = await withFilm('xfs');
    const file = await open(mount.path('film-xfs'), 'r+');
    await file.write(part, 0, part.length, 5 * mebibyte);
    const { cache } = await member.status();
    await file.close();
    expect(cache?.usedBytes).toBeLessThan(18 * mebibyte);
    const changed = Buffer.from(film);
    part.copy(changed, 5 * mebibyte);
    await eventually(async () => {
      expect((await readFile(cluster().member('ant').path('film-xfs'))).equals(changed)).toBe(true);
    });
    await eventually(async () => expect((await member.status()).cache?.usedBytes).toBeLessThan(18 * mebibyte));
  });

  test.skipIf(loopDiskLacks)('[OD23] is refused with a sentence where the draft is a second copy', async () => {
    const { member, mount } = await withFilm('ext4');
    const file = await open(mount.path('film-ext4'), 'r+');
    await expect(file.write(part, 0, part.length, 5 * mebibyte)).rejects.toMatchObject({ code: 'ENOSPC' });
    await file.close();
    const { out } = await lockstep(['why', member.path('film-ext4')]);
    expect(out).toContain(
      'Its old version of 16.8 MB stays until the changed one is closed: a change needs room for both.',
    );
    expect((await readFile(mount.path('film-ext4'))).equals(film)).toBe(true);
  });
});
