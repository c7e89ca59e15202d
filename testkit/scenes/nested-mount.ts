import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { type LabMember, patienceMs } from '../labs/lab.ts';
import { run, shell } from '../programs.ts';
import { namesOf } from '../tree.ts';
import { compare, conflictCopies } from './compare.ts';
import type { Scene, Stage } from './stage.ts';

const files = 50;

/** Waits until a member reports that a mount inside its folder has changed. */
async function changed(stage: Stage, member: LabMember): Promise<void> {
  const detail = await eventually(
    async () => {
      const problem = (await member.status()).problems.find(({ code }) => code === 'mount-changed');
      assert.ok(problem !== undefined, `${member.name} does not report mount-changed`);
      return problem.detail;
    },
    { timeoutMs: patienceMs },
  );
  stage.saw(`${member.name} says: ${detail}`);
}

/** Runs `hurt`, has both members work meanwhile, and runs `mend`. */
async function survive(
  stage: Stage,
  { ant, bee }: { readonly ant: LabMember; readonly bee: LabMember },
  name: string,
  hurt: () => Promise<unknown>,
  mend: () => Promise<unknown>,
): Promise<void> {
  await hurt();
  await changed(stage, ant);
  await shell(ant.folder, `echo ${name} > by-ant-${name}`);
  await shell(bee.folder, `echo ${name} > by-bee-${name}`);
  await ant.rescan();
  await eventually(
    async () => assert.ok(namesOf(bee.tree()).includes(`by-ant-${name}`), 'the others do not continue'),
    {
      timeoutMs: patienceMs,
    },
  );
  for (const directory of ['disk', 'plain']) {
    const left = namesOf(bee.tree()).filter((path) => path.startsWith(`${directory}/f`));
    assert.equal(left.length, files, `${files - left.length} files of ${directory} were deleted on bee`);
  }
  stage.saw('nothing was deleted, and everything else continues');
  await mend();
  await eventually(async () => assert.deepEqual(await ant.problems(), [], 'problems of ant'), {
    timeoutMs: patienceMs,
  });
}

export const nestedMount: Scene = {
  name: 'nested-mount',
  title: 'a disk inside a folder is removed, and an empty one is mounted over a directory',
  needs: 'disk',
  async run(stage) {
    const lab = await stage.open(['ant', 'bee']);
    const [ant, bee] = [lab.member('ant'), lab.member('bee')];
    const aside = await mkdtemp(join(tmpdir(), 'lockstep-mount-'));
    const inside = join(ant.folder, 'disk');
    const plain = join(ant.folder, 'plain');
    const detach = async (): Promise<void> => {
      for (const path of [inside, plain, aside]) await run('umount', ['-l', path]).catch(() => undefined);
    };
    stage.whenInterrupted(detach);
    try {
      await run('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', aside]);
      await shell(ant.folder, 'mkdir disk plain');
      await run('mount', ['--bind', aside, inside]);
      for (const path of [inside, plain]) await shell(path, `for n in $(seq ${files}); do echo $n > f$n; done`);
      await ant.wait({ for: 'all' });
      stage.did('mounted a disk inside the folder of ant');
      await survive(
        stage,
        { ant, bee },
        'away',
        () => run('umount', ['-l', inside]),
        () => run('mount', ['--bind', aside, inside]),
      );
      stage.did('removed the disk and brought it back');
      await survive(
        stage,
        { ant, bee },
        'hidden',
        () => run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', plain]),
        async () => {
          await shell(plain, 'echo not of this folder > in-the-way');
          await shell(bee.folder, 'echo of bee > plain/of-bee');
          await ant.rescan();
          await shell(ant.folder, 'echo after > after');
          await eventually(() => assert.ok(namesOf(bee.tree()).includes('after')), { timeoutMs: patienceMs });
          assert.ok(!namesOf(bee.tree()).includes('plain/in-the-way'), 'a file of the other disk was published');
          assert.deepEqual(
            readdirSync(plain),
            ['in-the-way'],
            'a file of another member was written to the other disk',
          );
          await run('umount', ['-l', plain]);
        },
      );
      stage.did('mounted an empty disk over a directory and unmounted it');
      const tree = await compare(stage, lab);
      assert.ok(namesOf(tree).includes('plain/of-bee'), 'what bee wrote meanwhile is lost');
      assert.deepEqual(conflictCopies(tree), []);
    } finally {
      await detach();
      await rm(aside, { recursive: true, force: true });
    }
  },
};
