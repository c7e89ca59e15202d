import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { eventually } from '../eventually.ts';
import { type LabMember, patienceMs } from '../labs/lab.ts';
import { namesOf } from '../tree.ts';
import { compare, conflictCopies } from './compare.ts';
import type { Scene } from './stage.ts';

const filesEach = 200;

/** A member's report about another one. */
async function seen(
  from: LabMember,
  other: LabMember,
): Promise<{ state?: string; connected?: boolean; name?: string }> {
  return (await from.status()).members.find(({ name }) => name === other.name) ?? {};
}

export const pause: Scene = {
  name: 'pause',
  title: 'a member is frozen with its connections open until the others call it down',
  async run(stage) {
    const lab = await stage.open(['ant', 'bee', 'cat']);
    const [ant, bee, cat] = [lab.member('ant'), lab.member('bee'), lab.member('cat')];
    mkdirSync(ant.path('pause'));
    writeFileSync(ant.path('pause', 'raced'), 'before');
    await ant.wait({ for: 'all' });
    await lab.freeze(bee);
    stage.did('froze bee');
    const write = (member: LabMember): void => {
      for (let n = 0; n < filesEach; n++)
        writeFileSync(member.path('pause', `${member.name}-${n}`), `${member.name} ${n}`);
    };
    for (const member of [ant, bee, cat]) write(member);
    writeFileSync(ant.path('pause', 'raced'), 'by ant');
    writeFileSync(bee.path('pause', 'raced'), 'by bee');
    stage.did(`wrote ${filesEach} files into each folder, and one file into both that of ant and that of bee`);
    for (const member of [ant, cat]) {
      await eventually(async () => assert.equal((await seen(member, bee)).state, 'down'), { timeoutMs: patienceMs });
    }
    const { done } = await ant.wait({ for: 2 });
    assert.ok(done, 'the others do not continue without bee');
    stage.saw('ant and cat call bee down, and continue without it');
    await lab.thaw(bee);
    stage.did('resumed bee');
    const tree = await compare(stage, lab);
    const own = namesOf(tree).filter((name) => /^pause\/(ant|bee|cat)-\d+$/.test(name));
    assert.equal(own.length, 3 * filesEach);
    const copies = conflictCopies(tree).filter((name) => name.startsWith('pause/'));
    assert.equal(copies.length, 1, `conflict copies: ${copies.join(', ')}`);
    const contents = ['pause/raced', ...copies].map((name) => readFileSync(cat.path(name), 'utf8'));
    assert.deepEqual(contents.sort(), ['by ant', 'by bee']);
    stage.saw('all files of all three members, and one conflict copy for the one lost race');
  },
};
