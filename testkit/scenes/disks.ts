import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { eventually } from '../eventually.ts';
import { type Lab, type LabMember, patienceMs } from '../labs/lab.ts';
import { shell } from '../programs.ts';
import { namesOf } from '../tree.ts';
import { compare, conflictCopies } from './compare.ts';
import type { Drill, Stage } from './stage.ts';

const before = 'mkdir -p disk; cd disk; for n in $(seq 50); do echo $n > f$n; done; head -c 3000000 /dev/zero > zeros';
/** One of everything, by a member whose disk is well. */
const meanwhile = `
  cd disk; for n in $(seq 200); do echo new $n > n$n; done; rm f1 f2; echo changed > f3; mv f4 g4; mkdir -p d/e; echo x > d/e/x`;

/** Waits until a member reports the problem, and says what it says. */
async function reported(stage: Stage, member: LabMember, code: string): Promise<void> {
  const detail = await eventually(
    async () => {
      const problem = (await member.status()).problems.find((found) => found.code === code && found.path === undefined);
      assert.ok(problem !== undefined, `${member.name} does not report ${code}`);
      return problem.detail;
    },
    { timeoutMs: patienceMs },
  );
  stage.saw(`${member.name} says: ${detail}`);
}

/** All is as `meanwhile` left it, nobody needed a copy, and nothing is reported any more. */
async function healed(stage: Stage, lab: Lab): Promise<void> {
  const tree = await compare(stage, lab);
  const names = namesOf(tree);
  for (const name of ['disk/g4', 'disk/n200', 'disk/d/e/x', 'disk/f50'])
    assert.ok(names.includes(name), `${name} is lost`);
  for (const name of ['disk/f1', 'disk/f2', 'disk/f4']) assert.ok(!names.includes(name), `${name} has come back`);
  assert.deepEqual(conflictCopies(tree), []);
  for (const member of lab.members) {
    await eventually(async () => assert.deepEqual(await member.problems(), [], `problems of ${member.name}`));
  }
  stage.saw('what was changed meanwhile, nothing else, and no problem any more');
}

/** `hurt` is done to bee's disk, `code` is what bee then reports; ant's user works meanwhile. */
function onDisk(name: string, title: string, code: string, hurt: 'fill' | 'detach', mend: 'free' | 'attach'): Drill {
  return {
    name,
    title,
    needs: 'disk',
    async run(stage) {
      const lab = await stage.open(['ant', 'cat']);
      const { member: bee, disk } = await lab.addOnDisk('bee');
      const ant = lab.member('ant');
      await shell(ant.folder, before);
      await ant.wait({ for: 'all' });
      await disk[hurt]();
      stage.did(hurt === 'fill' ? 'filled the disk of bee to the last byte' : 'took the disk of bee away');
      await shell(ant.folder, meanwhile);
      await reported(stage, bee, code);
      const { done } = await ant.wait({ for: 2 });
      assert.ok(done, 'the others do not go on without bee');
      assert.equal((await ant.wait({ for: 3, timeoutMs: 300 })).done, false, 'a disk that cannot be written holds it');
      stage.saw('ant and cat go on, and nobody takes bee for a holder of what is new');
      await disk[mend]();
      stage.did(hurt === 'fill' ? 'made room again' : 'brought the disk back');
      await healed(stage, lab);
    },
  };
}

export const diskFull = onDisk('disk-full', 'a disk without a byte left, and room again', 'disk-full', 'fill', 'free');
export const unmounted = onDisk(
  'unmounted',
  'the disk of a folder is taken away under the agent, and comes back',
  'folder-missing',
  'detach',
  'attach',
);

export const readOnly: Drill = {
  name: 'read-only',
  title: 'a folder that the agent may not write any more, and may again',
  async run(stage) {
    const lab = await stage.open(['ant', 'cat']);
    const { member: bee, setWritable } = await lab.addUnprivileged('bee');
    const ant = lab.member('ant');
    await shell(ant.folder, before);
    await ant.wait({ for: 'all' });
    const there = readdirSync(bee.folder).sort();
    await setWritable(false);
    stage.did('made the folder of bee read-only');
    await shell(ant.folder, `${meanwhile}; cd ..; echo top > top`);
    await reported(stage, bee, 'folder-missing');
    const { done } = await ant.wait({ for: 2 });
    assert.ok(done, 'the others do not go on without bee');
    assert.deepEqual(readdirSync(bee.folder).sort(), there);
    await setWritable(true);
    stage.did('made it writable again');
    await healed(stage, lab);
  },
};
