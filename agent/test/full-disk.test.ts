import { readdirSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { lockstep, type Member } from '../../testkit/member.ts';
import { run, shell } from '../../testkit/programs.ts';
import { diskFull } from '../../testkit/scenes/disks.ts';
import { namesOf } from '../../testkit/tree.ts';
import { sceneTest } from '../../testkit/vitest/scene-test.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';
import { level, read } from './support/on-demand.ts';

const isRoot = process.getuid?.() === 0;
const patience = { timeout: 20_000, interval: 100 };

sceneTest('[JN11]', diskFull);

/** A cluster in which the folder of bee is on a disk of its own: a tmpfs with these options. */
function useSmallDisk(options: string, env: Readonly<Record<string, string>> = {}) {
  const cluster = useCluster(['ant']);
  const disk = (): string => join(cluster().root, 'disk');
  beforeAll(async () => {
    await mkdir(disk());
    await run('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk()]);
    await cluster().add('bee', { folder: join(disk(), 'bee'), start: { env } });
    await cluster().connected();
  });
  afterAll(async () => {
    await cluster().member('bee').kill();
    await run('umount', ['-l', disk()]);
  });
  return { cluster, disk };
}

describe.runIf(isRoot)('a full disk', () => {
  const { cluster, disk } = useSmallDisk('size=48m');

  const fillUp = () => shell(disk(), 'dd if=/dev/zero of=ballast bs=4k 2>/dev/null || true');
  const makeRoom = () => rmSync(join(disk(), 'ballast'));

  test('[ST7] old versions are kept and counted, and give way to a full disk', async () => {
    const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
    for (const letter of ['a', 'b']) {
      await ant.put('large.txt', letter.repeat(2_000_000));
      await cluster().settled();
    }
    const kept = async () => (await bee.status()).history?.versions;
    await expect.poll(kept, patience).toBe(1);
    expect((await lockstep(['status', bee.folder])).out).toMatch(/history +1 old version, 2 MB of at most [45]/);
    await fillUp();
    await expect.poll(kept, patience).toBe(0);
    makeRoom();
  });

  test('[FA4] [FA6] an upload that fills it is refused, and leaves nothing', async () => {
    const bee = cluster().member('bee');
    const before = namesOf(await cluster().settled());
    let sent = 0;
    // Without a length the agent knows only at the end of its room that there is too little.
    const body = new ReadableStream<Uint8Array>({
      pull(stream) {
        if (++sent > 60) stream.close();
        else stream.enqueue(new Uint8Array(1_048_576));
      },
    });
    const init: RequestInit & { duplex: string } = { method: 'PUT', body, duplex: 'half' };
    const answer = await bee.fetch('api/v1/files/film', init);
    expect([answer.status, await answer.text()]).toEqual([507, expect.stringContaining('no more room')]);
    expect(namesOf(await cluster().settled())).toEqual(before);
    await expect.poll(() => readdirSync(bee.state('staging')), patience).toEqual([]);
    const small = await bee.fetch('api/v1/files/small', { method: 'PUT', body: 'there is room for this' });
    expect(small.status).toBe(201);
  });

  test('[FA7] a file of which the disk has no room for a copy is not changed in part', async () => {
    const bee = cluster().member('bee');
    await bee.put('half', 'x'.repeat(16_000_000));
    const before = namesOf(await cluster().settled());
    const headers = { 'if-match': '*', 'content-range': 'bytes 0-0/*' };
    const answer = await bee.fetch('api/v1/files/half', { method: 'PATCH', body: 'y', headers });
    expect([answer.status, await answer.text()]).toEqual([507, expect.stringContaining('no more room')]);
    expect(namesOf(await cluster().settled())).toEqual(before);
    await expect.poll(() => readdirSync(bee.state('staging')), patience).toEqual([]);
    rmSync(bee.path('half'));
    await cluster().settled();
  });

  test('[CL5] leave, status, up and init report it, and change nothing', async () => {
    const bee = cluster().member('bee');
    const before = namesOf(await cluster().settled());
    const other = join(disk(), 'other');
    await mkdir(other);
    await fillUp();
    const leave = await lockstep(['leave', bee.folder]);
    expect(leave).toMatchObject({ code: 1, err: expect.stringContaining('free some space') });
    await vi.waitFor(async () => {
      expect((await lockstep(['status', bee.folder])).out).toContain('Free some space');
    }, patience);
    await bee.stop();
    const refused = { code: 1, err: expect.stringMatching(/^lockstep: .*\/disk\/.*(free some space|disk has room)/im) };
    expect(await lockstep(['up', bee.folder])).toMatchObject(refused);
    expect(await lockstep(['init', other, '--name', 'other'])).toMatchObject(refused);
    expect(readdirSync(other)).toEqual([]);
    makeRoom();
    await bee.start();
    await cluster().connected();
    expect(namesOf(await cluster().settled())).toEqual(before);
    await cluster().verified();
  });
});

describe.runIf(isRoot)('a disk whose inodes are used up', () => {
  const { cluster } = useSmallDisk('size=200m,nr_inodes=3000');

  const putMany = (member: Member, directory: string, files: number) =>
    shell(member.folder, `mkdir ${directory} && seq ${files} | split -l 1 -a 4 - ${directory}/f`);

  test('[MT43] [ST7] says so, and deletes by others and old versions free them', async () => {
    const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
    await putMany(ant, 'many', 3_500);
    await expect
      .poll(async () => (await lockstep(['status', bee.folder])).out, { timeout: 60_000, interval: 200 })
      .toContain('more files and directories, whatever their size');
    rmSync(ant.path('many'), { recursive: true });
    // The removed files are old versions at first, and have inodes of their own.
    await cluster().settled();
    await putMany(ant, 'others', 1_000);
    await cluster().settled();
    expect(readdirSync(bee.path('others'))).toHaveLength(1_000);
    await expect.poll(async () => (await bee.status()).problems, patience).toEqual([]);
  });
});

describe.runIf(isRoot)('a full disk under a cache that is not', () => {
  const env = { LOCKSTEP_CONTENT: 'on-demand', LOCKSTEP_CACHE_SIZE: '100 MiB', LOCKSTEP_PREFETCH: 'false' };
  const { cluster, disk } = useSmallDisk('size=48m', env);

  test('[OD2] a read of what has no room there fails soon, and succeeds once there is room', async () => {
    const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
    await ant.put('film', 'f'.repeat(1_000_000));
    await level(bee, ant);
    await shell(disk(), 'dd if=/dev/zero of=ballast bs=4k 2>/dev/null || true');
    const isFull = async () => (await bee.status()).problems.some(({ code }) => code === 'disk-full');
    await expect.poll(isFull, patience).toBe(true);
    for (let attempt = 0; attempt < 2; attempt++) {
      const startedMs = performance.now();
      const answer = await bee.fetch('api/v1/files/film');
      expect([answer.status, await answer.text()]).toEqual([507, expect.stringContaining('no room for film')]);
      expect(performance.now() - startedMs).toBeLessThan(6_000);
    }
    rmSync(join(disk(), 'ballast'));
    await expect.poll(() => read(bee, 'film').catch(() => ''), patience).toHaveLength(1_000_000);
  });
});
