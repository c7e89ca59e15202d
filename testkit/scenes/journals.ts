import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { eventually } from '../eventually.ts';
import { type Lab, type LabMember, patienceMs } from '../labs/lab.ts';
import { allConnected } from '../level.ts';
import { shell } from '../programs.ts';
import { diffTrees, type Tree } from '../tree.ts';
import { compare } from './compare.ts';
import type { Scene, Stage } from './stage.ts';

const pageBytes = 4_096;

/** The maximum of content bytes sent inside the operations themselves, which contain the contents of small files. */
const inlineBytesMax = 20_000;

const fill = `
  mkdir -p journal; cd journal; for d in $(seq 20); do mkdir d$d; for n in $(seq 40); do echo $d $n > d$d/f$n; done; done
  head -c 3000000 /dev/urandom > large; ln -s d1 link; for d in $(seq 5); do mv d$d e$d; rm e$d/f1*; done`;

async function filled(stage: Stage): Promise<{ lab: Lab; bee: LabMember; tree: Tree }> {
  const lab = await stage.open(['ant', 'bee', 'cat']);
  await shell(lab.member('ant').folder, fill);
  return { lab, bee: lab.member('bee'), tree: await compare(stage, lab) };
}

/** Checks that the folders are unchanged except for a file that bee's user makes, so it works as before. Returns the tree. */
async function unharmed(stage: Stage, lab: Lab, before: Tree, round: string): Promise<Tree> {
  await allConnected(lab.members, patienceMs);
  await shell(lab.member('bee').path('journal'), `echo ${round} > after-${round}; mv after-${round} renamed-${round}`);
  const after = await compare(stage, lab);
  const made = `journal/renamed-${round}`;
  assert.ok(after.has(made), `${made} is lost`);
  const unchanged = new Map([...after].filter(([path]) => path !== made));
  assert.deepEqual(diffTrees(before, unchanged, ['before', 'after']).slice(0, 20), []);
  return after;
}

/** Fills a random page of the journal or of its write-ahead log with noise. */
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

/** The number of content bytes that these members have sent since their starts. */
async function sentBytes(members: readonly LabMember[]): Promise<number> {
  const sums = await Promise.all(members.map((member) => member.metric('lockstep_peer_sent_bytes_total')));
  return sums.reduce((sum, bytes) => sum + bytes, 0);
}

export const journalDeleted: Scene = {
  name: 'journal-deleted',
  title: 'the journal of each member is deleted, one after the other',
  async run(stage) {
    const { lab, tree } = await filled(stage);
    let before = tree;
    for (const member of lab.members) {
      const others = lab.members.filter((other) => other !== member);
      const sent = await sentBytes(others);
      await member.kill();
      for (const name of readdirSync(member.state())) {
        if (name.startsWith('journal.db')) rmSync(member.state(name));
      }
      stage.did(`killed ${member.name}, deleted its journal and restarted it`);
      await member.start();
      // Its log comes on another stream than the word that it is ready.
      await eventually(async () =>
        assert.match((await lab.log(member)).join('\n'), /The journal was gone\. It is being rebuilt from the folder/),
      );
      before = await unharmed(stage, lab, before, `deleted-${member.name}`);
      const sentSince = (await sentBytes(others)) - sent + (await sentBytes([member]));
      assert.ok(sentSince < inlineBytesMax, `${sentSince} B of content were sent that all members had`);
      assert.deepEqual(await member.problems(), [], `problems of ${member.name}`);
    }
    stage.saw('no member has requested content');
  },
};

/** Stops the member and damages one page of its journal, or all of it. The write-ahead log is removed. */
async function spoil(member: LabMember, page: number | undefined): Promise<void> {
  await member.stop();
  const bytes = readFileSync(member.state('journal.db'));
  bytes.fill(0xa5, (page ?? 0) * pageBytes, ((page ?? 0) + 1) * pageBytes);
  writeFileSync(member.state('journal.db'), page === undefined ? '' : bytes);
  rmSync(member.state('journal.db-wal'), { force: true });
}

/** Checks that the member reports the rebuilt journal, and stops reporting it once the damaged one is removed. */
async function rebuilt(member: LabMember): Promise<void> {
  const [problem, ...others] = (await member.status()).problems;
  assert.deepEqual(others, []);
  assert.equal(problem?.code, 'journal-rebuilt');
  assert.match(
    problem.detail,
    /^The journal was damaged \(.*\)\. It was put aside as .*damaged-.*; nothing in the folder was changed\. Check the disk/,
  );
  assert.notEqual(removeDamaged(member), 0);
  await eventually(async () => assert.deepEqual(await member.problems(), [], `problems of ${member.name}`));
}

/** Removes the journals that were put aside; returns their number. */
function removeDamaged(member: LabMember): number {
  const damaged = readdirSync(member.state()).filter((name) => name.startsWith('journal.db.damaged'));
  for (const name of damaged) rmSync(member.state(name));
  return damaged.length;
}

export const journalDamaged: Scene = {
  name: 'journal-damaged',
  title:
    'the journal of a member is damaged: its first page, another page, all of it, and then random pages repeatedly',
  async run(stage) {
    const { lab, bee, tree } = await filled(stage);
    let before = tree;
    for (const [what, page] of [
      ['the header', 0],
      ['a page in the middle', 3],
      ['all', undefined],
    ] as const) {
      await spoil(bee, page);
      stage.did(`stopped bee and damaged ${what} of its journal`);
      await bee.start();
      before = await unharmed(stage, lab, before, `spoilt-${page}`);
      await rebuilt(bee);
    }
    for (let round = 0; round < (stage.short ? 2 : 20); round++) {
      // Alternately without and with a write-ahead log next to the journal.
      if (round % 2 === 0) await bee.stop();
      else await bee.kill();
      const { file, page, pages } = damage(bee, stage.random);
      stage.did(
        `${round % 2 === 0 ? 'stopped' : 'killed'} bee and filled page ${page} of ${pages} of ${file} with noise`,
      );
      await bee.start();
      stage.saw(`bee says: ${await says(bee)}`);
      before = await unharmed(stage, lab, before, `damaged-${round}`);
      removeDamaged(bee);
    }
  },
};
