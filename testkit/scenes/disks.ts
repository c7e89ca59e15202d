import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { eventually } from '../eventually.ts';
import { type Lab, type LabDisk, type LabMember, patienceMs } from '../labs/lab.ts';
import { shell } from '../programs.ts';
import { namesOf } from '../tree.ts';
import { compare, conflictCopies, noProblems } from './compare.ts';
import type { Scene, Stage } from './stage.ts';

const before = 'mkdir -p disk; cd disk; for n in $(seq 50); do echo $n > f$n; done; head -c 3000000 /dev/zero > zeros';
/** One change of each kind, by a member with a working disk. */
const meanwhile = `
  cd disk; for n in $(seq 200); do echo new $n > n$n; done; rm f1 f2; echo changed > f3; mv f4 g4; mkdir -p d/e; echo x > d/e/x`;

interface Reported {
  readonly code: string;
  readonly detail: RegExp;
}

/** Waits until a member reports the problem, and prints its detail. */
async function reported(stage: Stage, member: LabMember, { code, detail: wanted }: Reported): Promise<void> {
  const detail = await eventually(
    async () => {
      const problem = (await member.status()).problems.find((found) => found.code === code && found.path === undefined);
      assert.ok(problem !== undefined, `${member.name} does not report ${code}`);
      assert.match(problem.detail, wanted);
      return problem.detail;
    },
    { timeoutMs: patienceMs },
  );
  stage.saw(`${member.name} says: ${detail}`);
}

/** Checks that all folders are as `meanwhile` left them, without conflict copies, and that no problem is reported any more. */
async function healed(stage: Stage, lab: Lab): Promise<void> {
  const tree = await compare(stage, lab);
  const names = namesOf(tree);
  for (const name of ['disk/g4', 'disk/n200', 'disk/d/e/x', 'disk/f50'])
    assert.ok(names.includes(name), `${name} is lost`);
  for (const name of ['disk/f1', 'disk/f2', 'disk/f4']) assert.ok(!names.includes(name), `${name} has come back`);
  assert.deepEqual(conflictCopies(tree), []);
  await noProblems(lab);
  stage.saw('the changes made meanwhile and no others, and no problem any more');
}

/** Checks that the files that ant's user did not change still exist. */
function nothingDeleted(member: LabMember): void {
  const names = namesOf(member.tree());
  const gone = Array.from({ length: 40 }, (_, index) => `disk/f${index + 10}`).filter((name) => !names.includes(name));
  assert.deepEqual(gone, [], `deleted on ${member.name}`);
}

interface Hurt {
  /** The printed sentences on what is done to the disk of bee, and on what undoes it. */
  readonly hurt: string;
  readonly mend: string;
  /** The problem that bee then reports. */
  readonly reports: Reported;
  /** Damages the disk. The returned function repairs it. */
  run(lab: Lab, bee: LabMember, disk: LabDisk): Promise<() => Promise<void>>;
}

/** A scene in which the disk of bee is damaged while ant's user works. */
function onDisk(name: string, title: string, { hurt, mend, reports, run }: Hurt): Scene {
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
      const mended = await run(lab, bee, disk);
      stage.did(hurt);
      await shell(ant.folder, meanwhile);
      await reported(stage, bee, reports);
      const { done } = await ant.wait({ for: 2 });
      assert.ok(done, 'the others do not continue without bee');
      assert.equal(
        (await ant.wait({ for: 3, timeoutMs: 300 })).done,
        false,
        'bee counts as a holder although its disk cannot be written',
      );
      for (const member of [ant, lab.member('cat')]) nothingDeleted(member);
      stage.saw('ant and cat continue, and no member counts bee as a holder of the new files');
      await mended();
      stage.did(mend);
      await healed(stage, lab);
    },
  };
}

export const diskFull = onDisk('disk-full', 'a disk is filled to the last byte, and then has free space again', {
  hurt: 'filled the disk of bee to the last byte; its user goes on with changes that need no space',
  mend: 'freed the space again',
  reports: {
    code: 'disk-full',
    detail: /^The disk of the folder has [\d.]+ k?B left; .* Free some space: nothing is lost/,
  },
  async run(lab, bee, disk) {
    await disk.fill();
    await shell(bee.path('disk'), 'rm f5; mv f6 g6; chmod 600 f7; touch -d 2001-01-01 f8');
    return async () => {
      await eventually(async () => assert.match((await lab.log(bee)).join('\n'), /There is no room for the journal/), {
        timeoutMs: patienceMs,
      });
      assert.ok(
        namesOf(lab.member('ant').tree()).includes('disk/f5'),
        'bee has published a change that it cannot journal',
      );
      await disk.free();
      const names = async (): Promise<readonly string[]> => namesOf(lab.member('ant').tree());
      await eventually(async () => assert.ok((await names()).includes('disk/g6'), 'g6 is lost'), {
        timeoutMs: patienceMs,
      });
      await eventually(async () => assert.ok(!(await names()).includes('disk/f5'), 'f5 has come back'), {
        timeoutMs: patienceMs,
      });
    };
  },
});

export const unmounted = onDisk('unmounted', 'the disk of a folder is taken away under the agent, and comes back', {
  hurt: 'took the disk of bee away',
  mend: 'brought the disk back',
  reports: { code: 'folder-missing', detail: /./ },
  async run(_lab, _bee, disk) {
    await disk.detach();
    return () => disk.attach();
  },
});

export const readOnly: Scene = {
  name: 'read-only',
  title: 'a folder becomes read-only for the agent, and then writable again',
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
    await reported(stage, bee, {
      code: 'folder-missing',
      detail: /^The folder .* cannot be written: give the agent's user permission, or mount it writable\.$/,
    });
    const { done } = await ant.wait({ for: 2 });
    assert.ok(done, 'the others do not continue without bee');
    assert.equal(
      (await ant.wait({ for: 3, timeoutMs: 300 })).done,
      false,
      'bee counts as a holder although its folder cannot be written',
    );
    assert.deepEqual(readdirSync(bee.folder).sort(), there);
    await setWritable(true);
    stage.did('made it writable again');
    await healed(stage, lab);
  },
};
