import { readdirSync, rmSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { lockstep } from '../../testkit/member.ts';
import { run, shell } from '../../testkit/programs.ts';
import { namesOf } from '../../testkit/tree.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const isRoot = process.getuid?.() === 0;
const patience = { timeout: 20_000, interval: 100 };

describe.runIf(isRoot)('a disk without a byte left', () => {
  const cluster = useCluster(['ant']);
  let disk = '';

  beforeAll(async () => {
    disk = join(cluster().root, 'disk');
    await mkdir(disk);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', disk]);
    await cluster().add('bee', { folder: join(disk, 'bee') });
    await cluster().connected();
  });
  afterAll(async () => {
    await cluster().member('bee').kill();
    await run('umount', ['-l', disk]);
  });

  const fillUp = () => shell(disk, 'dd if=/dev/zero of=ballast bs=4k 2>/dev/null || true');
  const makeRoom = () => rmSync(join(disk, 'ballast'));

  test('[JN11] while the agent runs: it is said, nothing is lost, and it goes on by itself', async () => {
    const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
    await shell(bee.folder, 'for n in $(seq 50); do echo $n > f$n; done');
    await cluster().settled();
    await fillUp();
    await shell(ant.folder, 'for n in $(seq 200); do echo new $n > n$n; done; rm f1 f2; echo changed > f3; mv f4 g4');
    await shell(bee.folder, 'rm f10; mv f11 g11; chmod 600 f12; touch -d 2001-01-01 f13');
    await vi.waitFor(async () => {
      const { problems } = await bee.status();
      const problem = problems.find(({ code, path }) => code === 'disk-full' && path === undefined);
      expect(problem?.detail).toMatch(/^The disk of the folder has 0 MiB left; .* Free some space: nothing is lost/);
    }, patience);
    await vi.waitFor(() => expect(bee.log.join('\n')).toContain('There is no room for the journal'), patience);
    expect((await lockstep(['status', bee.folder])).out).toContain('Free some space');
    const leave = await lockstep(['leave', bee.folder]);
    expect(leave).toMatchObject({ code: 1, err: expect.stringContaining('free some space') });
    expect((await ant.wait({ for: 2, timeoutMs: 200 })).done).toBe(false);
    expect(namesOf(ant.tree())).toEqual(expect.arrayContaining(['f10', 'f11', 'n200']));
    expect(namesOf(bee.tree())).toEqual(expect.arrayContaining(['f1', 'f2', 'f4', 'g11']));

    makeRoom();
    const names = namesOf(await cluster().settled());
    expect(names).toEqual(expect.arrayContaining(['g4', 'g11', 'n1', 'n200']));
    for (const gone of ['f1', 'f2', 'f4', 'f10', 'f11']) expect(names).not.toContain(gone);
    expect(names.filter((name) => name.includes('conflict'))).toEqual([]);
    expect(await readFile(bee.path('f3'), 'utf8')).toBe('changed\n');
    await vi.waitFor(async () => expect(await bee.problems()).toEqual([]), patience);
    await cluster().verified();
  });

  test('[CL5] up and init say so, and leave things as they are', async () => {
    const bee = cluster().member('bee');
    const before = namesOf(await cluster().settled());
    const other = join(disk, 'other');
    await mkdir(other);
    await bee.stop();
    await fillUp();
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
