import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs';
import type { Lab, LabMember } from '../labs/lab.ts';
import { shell } from '../programs.ts';
import { diffTrees, type Tree } from '../tree.ts';
import { compare } from './compare.ts';
import type { Drill, Stage } from './stage.ts';

const pageBytes = 4_096;

const fill = `
  mkdir -p journal; cd journal; for d in $(seq 20); do mkdir d$d; for n in $(seq 40); do echo $d $n > d$d/f$n; done; done
  head -c 3000000 /dev/urandom > large; ln -s d1 link; for d in $(seq 5); do mv d$d e$d; rm e$d/f1*; done`;

async function filled(stage: Stage): Promise<{ lab: Lab; bee: LabMember; tree: Tree }> {
  const lab = await stage.open(['ant', 'bee', 'cat']);
  await shell(lab.member('ant').folder, fill);
  return { lab, bee: lab.member('bee'), tree: await compare(stage, lab) };
}

/** The folders are as they were, and the member works as before. */
async function unharmed(stage: Stage, lab: Lab, before: Tree, round: string): Promise<Tree> {
  const after = await compare(stage, lab);
  assert.deepEqual(diffTrees(before, after, ['before', 'after']).slice(0, 20), []);
  await shell(lab.member('bee').path('journal'), `echo ${round} > after-${round}; mv after-${round} renamed-${round}`);
  return compare(stage, lab);
}

/** Fills a random page of the journal, or of what was written last and lies beside it, with noise. */
function damage(member: LabMember, random: () => number): { file: string; page: number; pages: number } {
  const pagesOf = (file: string): number =>
    Math.floor((statSync(member.state(file), { throwIfNoEntry: false })?.size ?? 0) / pageBytes);
  const [inJournal, inLog] = [pagesOf('journal.db'), pagesOf('journal.db-wal')];
  const drawn = Math.floor(random() * (inJournal + inLog));
  const [file, page, pages] =
    drawn < inJournal
      ? (['journal.db', drawn, inJournal] as const)
      : (['journal.db-wal', drawn - inJournal, inLog] as const);
  const descriptor = openSync(member.state(file), 'r+');
  writeSync(descriptor, randomBytes(pageBytes), 0, pageBytes, page * pageBytes);
  closeSync(descriptor);
  return { file, page, pages };
}

const says = async (member: LabMember): Promise<string> =>
  (await member.status()).problems.map(({ detail }) => detail).join(' ') || 'nothing';

export const journalDeleted: Drill = {
  name: 'journal-deleted',
  title: 'the journal of a member is deleted, and of all members one after the other',
  async run(stage) {
    const { lab, tree } = await filled(stage);
    let before = tree;
    for (const member of lab.members) {
      await member.kill();
      for (const name of readdirSync(member.state())) {
        if (name.startsWith('journal.db')) rmSync(member.state(name));
      }
      stage.did(`killed ${member.name}, deleted its journal and started it again`);
      await member.start();
      before = await unharmed(stage, lab, before, `deleted-${member.name}`);
    }
  },
};

export const journalDamaged: Drill = {
  name: 'journal-damaged',
  title: 'the journal of a member is damaged in a random page, again and again',
  async run(stage) {
    const { lab, bee, tree } = await filled(stage);
    let before = tree;
    for (let round = 0; round < (stage.short ? 4 : 20); round++) {
      // In turn with and without what was written last still beside the journal.
      if (round % 2 === 0) await bee.stop();
      else await bee.kill();
      const { file, page, pages } = damage(bee, stage.random);
      stage.did(
        `${round % 2 === 0 ? 'stopped' : 'killed'} bee and filled page ${page} of ${pages} of ${file} with noise`,
      );
      await bee.start();
      stage.saw(`bee says: ${await says(bee)}`);
      before = await unharmed(stage, lab, before, `damaged-${round}`);
      for (const name of readdirSync(bee.state())) {
        if (name.startsWith('journal.db.damaged')) rmSync(bee.state(name));
      }
    }
  },
};
