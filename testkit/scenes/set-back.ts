import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lab, LabMember } from '../labs/lab.ts';
import { allSettled } from '../level.ts';
import { shell } from '../programs.ts';
import { namesOf, type Tree } from '../tree.ts';
import { compare } from './compare.ts';
import type { Scene, Stage } from './stage.ts';

/** Makes the changes of one branch of the member's history: an edit, a new file, a new directory, and a delete. */
async function workOn(member: LabMember, room: string, branch: string): Promise<void> {
  writeFileSync(member.path(room, 'edited'), `edited on branch ${branch}`);
  writeFileSync(member.path(room, `new-${branch}`), `new on branch ${branch}`);
  await shell(member.path(room), `mkdir -p dir; echo -n in dir on branch ${branch} > dir/in; rm -f gone-${branch}`);
}

/** Copies the folder of a stopped member with its state. The returned function restores the copy. */
async function copied(lab: Lab, member: LabMember, room: string): Promise<() => Promise<void>> {
  const copy = join(lab.outside(member), `copy-for-${room}`);
  await shell('/', `mkdir -p ${lab.outside(member)}; cp -a ${member.folder} ${copy}`);
  return async () => {
    // The state directory itself is kept (the same inode), as on the disk of a virtual machine.
    await shell(member.folder, 'find . -mindepth 1 ! -path ./.lockstep -delete');
    await shell('/', `cp -a ${copy}/. ${member.folder}`);
  };
}

function checkBoth(stage: Stage, member: LabMember, room: string, tree: Tree): void {
  const names = namesOf(tree).filter((name) => name.startsWith(`${room}/`) && tree.get(name)?.what.startsWith('file'));
  const texts = names.map((name) => readFileSync(member.path(name), 'utf8'));
  for (const branch of ['one', 'two']) {
    for (const what of ['edited', 'new', 'in dir'])
      assert.ok(texts.includes(`${what} on branch ${branch}`), `${what} ${branch}`);
    assert.ok(!names.includes(`${room}/gone-${branch}`), `gone-${branch} is back`);
  }
  stage.saw('everything that was written on both branches, and nothing that was deleted on one of them');
}

/** One round of the scene. `knows`: the member that runs when cat has been set back, and does not know the first branch. */
async function round(stage: Stage, lab: Lab, knows: 'nobody' | 'bee'): Promise<void> {
  const room = `set-back-${knows}`;
  const [ant, bee, cat] = ['ant', 'bee', 'cat'].map((name) => lab.member(name)) as [LabMember, LabMember, LabMember];
  await shell(
    cat.folder,
    `mkdir ${room}; cd ${room}; for name in edited kept gone-one gone-two; do echo old > $name; done`,
  );
  await allSettled(lab.members);
  await cat.stop();
  const setBack = await copied(lab, cat, room);
  if (knows === 'bee') await bee.stop();
  await cat.start();
  await workOn(cat, room, 'one');
  await allSettled(lab.members.filter(({ running }) => running));
  for (const member of lab.members) if (member.running) await member.stop();
  await setBack();
  stage.did('copied cat with its state, let it work on, and set it back to the copy');
  if (knows === 'bee') await bee.start();
  await cat.start();
  await workOn(cat, room, 'two');
  const { done } = await cat.wait({ for: 'all', timeoutMs: 2_000 });
  assert.ok(!done, 'cat said that all hold what it wrote although ant was down');
  stage.did(
    `let cat write with ${knows === 'bee' ? 'bee, which did not know the first branch' : 'no other member running'}`,
  );
  await ant.start();
  checkBoth(stage, cat, room, await compare(stage, lab));
}

export const setBack: Scene = {
  name: 'set-back',
  title: 'a member is set back to a snapshot, starts alone or with one that does not know better, and is changed',
  async run(stage) {
    const lab = await stage.open(['ant', 'bee', 'cat']);
    await round(stage, lab, 'nobody');
    await round(stage, lab, 'bee');
  },
};
