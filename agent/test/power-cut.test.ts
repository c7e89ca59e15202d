import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LoopDisk, loopDiskLacks } from '../../testkit/machine/loop-disk.ts';
import type { Member } from '../../testkit/member.ts';
import { shell } from '../../testkit/programs.ts';
import { powerCut } from '../../testkit/scenes/power-cut.ts';
import { namesOf } from '../../testkit/tree.ts';
import { sceneTest } from '../../testkit/vitest/scene-test.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const patience = { timeout: 60_000, interval: 20 };
const edited = Array.from({ length: 20 }, (_, index) => `edited-${index}`);

sceneTest('[PC1]', powerCut);

describe.skipIf(loopDiskLacks)('[root, loop devices] a power cut at the member that wrote', () => {
  const cluster = useCluster(['bee']);
  let disk: LoopDisk;
  let shim = '';
  let letSync = '';

  beforeAll(async () => {
    disk = await LoopDisk.make(join(cluster().root, 'power'));
    // It simulates a disk with a slow sync: `sync` waits for a file.
    shim = join(cluster().root, 'shim');
    letSync = join(shim, 'let');
    await mkdir(shim);
    await writeFile(letSync, '');
    const waits = `#!/bin/sh\nuntil [ -e "${letSync}" ]; do sleep 0.05; done\nexec /usr/bin/env PATH=/usr/bin:/bin sync "$@"\n`;
    await writeFile(join(shim, 'sync'), waits);
    await chmod(join(shim, 'sync'), 0o755);
    const env = { PATH: `${shim}:${process.env.PATH}` };
    const start = { env, wrapper: await disk.nextBoot() };
    const ant = await cluster().add('ant', { folder: join(disk.directory, 'ant'), start });
    await cluster().connected();
    await shell(ant.folder, `for n in ${edited.join(' ')}; do echo first version of $n > $n; done`);
    expect(await ant.wait({ for: 'all' })).toMatchObject({ done: true });
  });
  afterAll(async () => {
    await writeFile(letSync, '');
    await cluster().member('ant').kill();
    await disk.remove();
  });

  const pair = () => [cluster().member('ant'), cluster().member('bee')] as const;

  /** Cuts the power after ant has written files that only bee has durably. Returns how many had not reached the disk. */
  async function cutOnce(when: string, start: (ant: Member) => Promise<void>): Promise<number> {
    const [ant, bee] = pair();
    await rm(letSync);
    const made = Array.from({ length: 50 }, (_, index) => `made-${when.replaceAll(/[^\w]/g, '-')}-${index}`);
    const textOf = (name: string): string => `the much longer version of ${name} ${when}\n`;
    const script = `for n in ${[...edited, ...made].join(' ')}; do echo "the much longer version of $n ${when}" > $n; done`;
    await shell(ant.folder, script);
    const isGood = async (name: string): Promise<boolean> =>
      (await readFile(bee.path(name), 'utf8').catch(() => '')) === textOf(name);
    await vi.waitFor(async () => {
      expect((await Promise.all([...edited, ...made].map(isGood))).every(Boolean)).toBe(true);
    }, patience);
    expect(await ant.wait({ for: 'all', timeoutMs: 200 })).toMatchObject({ done: false });
    await disk.cutPower(() => ant.kill());
    await writeFile(letSync, '');
    const whole = await Promise.all(made.map((name) => readFile(ant.path(name), 'utf8').catch(() => '')));

    await start(ant);
    const names = namesOf(await cluster().settled());
    expect(names.filter((name) => name.includes('conflict'))).toEqual([]);
    for (const name of [...edited, ...made]) {
      const texts = [await readFile(ant.path(name), 'utf8'), await readFile(bee.path(name), 'utf8')];
      expect(texts).toEqual([textOf(name), textOf(name)]);
    }
    await vi.waitFor(async () => expect(await ant.problems()).toEqual([]), patience);
    await cluster().verified();
    return whole.filter((text) => text === '').length;
  }

  test.each([
    ['[PC2] after a power cut', async (ant: Member) => ant.start({ wrapper: await disk.nextBoot() })],
    ['[PC5] from a disk that was pulled out, in the same boot,', (ant: Member) => ant.start()],
  ])(
    '%s files that had not reached the disk come back from the others, and no damage is published',
    async (when, start) => {
      let lost = 0;
      // The kernel writes each file after half a minute. If this machine took longer, none is lost, and the power is cut once more.
      for (let attempt = 1; lost === 0 && attempt <= 5; attempt++) lost = await cutOnce(`${when}, ${attempt}`, start);
      expect(lost).toBeGreaterThan(0);
    },
  );

  test('[PC7] a file that is torn because a program appended to it keeps the version of before, and what is left becomes a copy', async () => {
    const [ant, bee] = pair();
    await writeFile(letSync, '');
    const logs = Array.from({ length: 10 }, (_, index) => `log-${index}`);
    const append = (line: string) => shell(ant.folder, `for n in ${logs.join(' ')}; do echo ${line} >> $n; done`);
    const textsOf = (member: Member) => Promise.all(logs.map((name) => readFile(member.path(name), 'utf8')));
    await append('first');
    await cluster().settled();
    await shell(ant.folder, 'sync -f .');
    await rm(letSync);
    await append('second');
    const good = logs.map(() => 'first\nsecond\n');
    await vi.waitFor(async () => expect(await textsOf(bee)).toEqual(good), patience);
    ant.signal('SIGSTOP');
    await append('third');
    // The disk gets the new lengths of all files, and not their last bytes.
    await shell(ant.folder, 'echo other > other && sync other');
    await disk.cutPower(() => ant.kill());
    await writeFile(letSync, '');
    const torn = await textsOf(ant);
    for (const text of torn) expect(text).toMatch(/^first\n\0+$/);

    await ant.start({ wrapper: await disk.nextBoot() });
    const names = namesOf(await cluster().settled());
    expect(await textsOf(ant)).toEqual(good);
    const copies = names.filter((name) => name.startsWith('log-') && name.includes('.conflict-'));
    const kept = await Promise.all(copies.map((name) => readFile(bee.path(name), 'utf8')));
    expect(kept.sort()).toEqual(torn.sort());
    await vi.waitFor(async () => expect(await ant.problems()).toEqual([]), patience);
    await cluster().verified();
  });
});
