import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { eventually } from '../eventually.ts';
import { patienceMs } from '../labs/lab.ts';
import { subtree } from '../tree.ts';
import { compare, conflictCopies, noProblems } from './compare.ts';
import type { Scene } from './stage.ts';

const jumps = [
  [24, 'a day ahead'],
  [-24, 'a day back'],
  [24 * 365, 'a year ahead'],
  [0, 'right'],
] as const;

export const clock: Scene = {
  name: 'clock',
  title: 'a clock that jumps by a day ahead, a day back, a year ahead and right again while the agent runs',
  needs: 'clock',
  async run(stage) {
    const lab = await stage.open(['ant', 'cat']);
    const { member: bee, setClock } = await lab.addWithClock('bee');
    const ant = lab.member('ant');
    mkdirSync(ant.path('clock'));
    await ant.wait({ for: 'all' });
    let round = 0;
    for (const [hours, how] of jumps) {
      setClock(hours);
      stage.did(`set the clock of bee ${how}`);
      for (const member of [bee, ant, bee, lab.member('cat')]) {
        writeFileSync(member.path('clock', 'in-turn'), `round ${++round}`);
        writeFileSync(member.path('clock', `made-${round}`), `by ${member.name}`);
        const { done } = await member.wait({ for: 'all' });
        assert.ok(done, `not all members hold what ${member.name} wrote`);
      }
      const skew = async (): Promise<string | undefined> =>
        (await ant.status()).problems.find(({ code }) => code === 'clock-skew')?.detail;
      if (hours === 0) await eventually(async () => assert.equal(await skew(), undefined), { timeoutMs: patienceMs });
      else {
        const detail = await eventually(
          async () => {
            const said = await skew();
            assert.match(said ?? '', hours > 0 ? /ahead/ : /behind/);
            return said;
          },
          { timeoutMs: patienceMs },
        );
        stage.saw(`ant says: ${detail}`);
      }
      await eventually(async () => {
        const unwell = (await ant.status()).members.filter(({ connected, state }) => !connected || state !== 'active');
        assert.deepEqual(unwell, [], 'members that ant has lost');
      });
    }
    const tree = await compare(stage, lab);
    assert.equal(readFileSync(ant.path('clock', 'in-turn'), 'utf8'), `round ${round}`);
    assert.equal(subtree(tree, 'clock').size, round + 1);
    assert.deepEqual(conflictCopies(tree), []);
    await noProblems(lab);
    stage.saw('the last save has won each time, and no clock has made a conflict');
  },
};
