import assert from 'node:assert/strict';
import { eventually } from '../eventually.ts';
import { patienceMs } from '../labs/lab.ts';
import { allConnected } from '../level.ts';
import { shell } from '../programs.ts';
import { compare } from './compare.ts';
import type { Scene } from './stage.ts';
import { startLoad } from './users.ts';

/** Enough data to keep a newcomer busy for a while: so many directories of a hundred small files, and large files. */
const amounts = { short: { directories: 20, large: 6 }, long: { directories: 30, large: 12 } } as const;

const fill = ({ directories, large }: { readonly directories: number; readonly large: number }): string => `
  for d in $(seq ${directories}); do mkdir -p full/d$d; for n in $(seq 100); do echo $d $n > full/d$d/f$n; done; done
  for n in $(seq ${large}); do head -c 6000000 /dev/urandom > full/large$n; done`;

const filesBeforeKill = 50;

export const newcomer: Scene = {
  name: 'newcomer',
  title: 'a member joins while users work on all, and the oldest member is killed during the join',
  async run(stage) {
    const lab = await stage.open(['ant', 'bee', 'cat']);
    const { oldestMember } = await lab.member('ant').status();
    const ids = await Promise.all(lab.members.map(async (member) => (await member.status()).member.id));
    const oldest = lab.members[ids.indexOf(oldestMember ?? '')];
    assert.ok(oldest !== undefined, 'no member is the oldest');
    const amount = amounts[stage.short ? 'short' : 'long'];
    await shell(oldest.folder, fill(amount));
    await oldest.wait({ for: 'all' });
    stage.did(`filled the folder with ${amount.directories * 100} small files and ${amount.large} of 6 MB`);
    const load = startLoad(stage, lab);
    await load.progress(30);
    const dog = await lab.addNewcomer('dog');
    stage.did('started dog, a newcomer without data');
    await eventually(async () => assert.ok((await dog.status()).files > filesBeforeKill), {
      timeoutMs: patienceMs,
      intervalMs: 2,
    });
    await oldest.kill();
    const { files } = await dog.status();
    stage.did(`killed ${oldest.name}, the oldest, when dog had ${files} files; its user goes on`);
    const rest = lab.members.filter((member) => member !== oldest);
    await allConnected(rest, patienceMs);
    await eventually(async () => assert.equal((await dog.status()).catchUp, undefined), { timeoutMs: patienceMs });
    await eventually(async () => assert.equal((await dog.status()).member.state, 'active'), { timeoutMs: patienceMs });
    stage.saw('dog caught up from the others and is active');
    await load.progress(60);
    await oldest.start();
    await load.progress(60);
    await load.stop();
    stage.did(`restarted ${oldest.name}, and stopped the users after ${load.actions} actions`);
    await compare(stage, lab, load);
  },
};
