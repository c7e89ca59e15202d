import { compare } from './compare.ts';
import type { Scene } from './stage.ts';
import { startLoad } from './users.ts';

/** The number of user actions between two kills. */
const actionsBetween = 60;

export const kill: Scene = {
  name: 'kill',
  title: 'kill -9 of each member in turn under load, then of all at once',
  async run(stage) {
    const lab = await stage.open(['ant', 'bee', 'cat']);
    const load = startLoad(stage, lab);
    for (const member of lab.members) {
      await load.progress(actionsBetween);
      await member.kill();
      stage.did(`killed ${member.name} after ${load.actions} actions; its user goes on`);
      await load.progress(actionsBetween);
      await member.start();
    }
    await load.progress(actionsBetween);
    await Promise.all(lab.members.map((member) => member.kill()));
    stage.did('killed all at once');
    await load.progress(actionsBetween);
    await Promise.all(lab.members.map((member) => member.start()));
    await load.progress(actionsBetween);
    await load.stop();
    stage.did(`started all, and stopped the users after ${load.actions} actions`);
    await compare(stage, lab, load);
  },
};
