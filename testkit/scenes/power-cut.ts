import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { patienceMs } from '../labs/lab.ts';
import { shell } from '../programs.ts';
import { compare, conflictCopies, noProblems } from './compare.ts';
import type { Scene } from './stage.ts';

const rounds = 3;
const names = Array.from({ length: 70 }, (_, index) => `power/f${index}`);

/** The text that a round writes into a file. It is longer than the previous one, so that a disk may keep the old length. */
function textOf(name: string, round: number): string {
  return `${name} in round ${round}${' and on'.repeat(round)}\n`;
}

export const powerCut: Scene = {
  name: 'power-cut',
  title: 'the power of the member that wrote is cut before its disk has the files',
  needs: 'image',
  async run(stage) {
    const lab = await stage.open(['bee', 'cat']);
    const { member: ant, image } = await lab.addOnImage('ant');
    const bee = lab.member('bee');
    for (let round = 1; round <= rounds; round++) {
      const lines = names.map((name) => `printf '%s' '${textOf(name, round)}' > ${name}`);
      await shell(ant.folder, `mkdir -p power; ${lines.join('; ')}`);
      const arrived = async (): Promise<void> => {
        for (const name of names)
          assert.equal(await readFile(join(bee.folder, name), 'utf8').catch(() => ''), textOf(name, round));
      };
      await eventually(arrived, { timeoutMs: patienceMs });
      // In the last round the files must be on the disk, because the wait says that all members hold them.
      if (round === rounds) assert.ok((await ant.wait({ for: 'all' })).done, 'not all members hold the files');
      await image.cutPower();
      const texts = await Promise.all(names.map((name) => readFile(join(ant.folder, name), 'utf8').catch(() => '')));
      const damaged = texts.filter((text, index) => text !== textOf(names[index] ?? '', round)).length;
      stage.did(
        `cut the power of ant after round ${round}: ${damaged} of ${names.length} files are not what was written`,
      );
      if (round === rounds) assert.equal(damaged, 0, 'files that ant held durably are lost');
      await ant.start();
      const tree = await compare(stage, lab);
      assert.deepEqual(conflictCopies(tree), []);
      for (const member of lab.members) {
        for (const name of names)
          assert.equal(await readFile(join(member.folder, name), 'utf8'), textOf(name, round), member.name);
      }
      await noProblems(lab);
    }
    stage.saw('every member has every file as it was written, and there is no conflict copy');
  },
};
