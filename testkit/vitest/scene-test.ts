import { onTestFailed, onTestFinished, test } from 'vitest';
import type { Lab } from '../labs/lab.ts';
import { localPlace } from '../labs/local.ts';
import { randomFrom } from '../load/random-user.ts';
import type { Scene } from '../scenes/stage.ts';

const churnMs = 20_000;
const timeoutMs = 400_000;
const logLinesShown = 60;

/** The seed of the random choices. To repeat those of a run: `LOCKSTEP_SCENE_SEED=4711 npx vitest run …`. */
const seed = Number(process.env.LOCKSTEP_SCENE_SEED ?? 1 + Math.floor(Math.random() * 1e9));

/** A test that plays a scene on processes of this machine, in its short form. `rules`: the cited SPEC rules, for the title. */
export function sceneTest(rules: string, scene: Scene): void {
  const lacking = scene.needs && localPlace.lacks(scene.needs);
  test.skipIf(lacking !== undefined)(`${rules} ${scene.title}`, () => play(scene), timeoutMs);
}

async function play(scene: Scene): Promise<void> {
  const story = [`${scene.name}, LOCKSTEP_SCENE_SEED=${seed}`];
  const opened: Promise<Lab>[] = [];
  const stops: (() => Promise<unknown>)[] = [];
  /** The opened labs; a lab that could not be opened has removed itself. */
  const labs = async (): Promise<readonly Lab[]> =>
    (await Promise.allSettled(opened)).flatMap((lab) => (lab.status === 'fulfilled' ? [lab.value] : []));
  onTestFinished(async () => {
    // Background work must end before the files that it uses are removed.
    await Promise.allSettled(stops.map((stop) => stop()));
    for (const lab of await labs()) await lab.close();
  });
  onTestFailed(async () => {
    console.error(story.join('\n'));
    for (const lab of await labs()) {
      for (const member of lab.members) {
        const lines = (await lab.log(member)).slice(-logLinesShown);
        console.error(`\n=== log of ${member.name}\n${lines.join('\n')}`);
      }
    }
  });
  await scene.run({
    short: true,
    churnMs,
    random: randomFrom(seed),
    open: (names) => {
      const lab = localPlace.open(names);
      opened.push(lab);
      return lab;
    },
    whenInterrupted: (stop) => stops.push(stop),
    did: (what) => story.push(`did  ${what}`),
    saw: (what) => story.push(`saw  ${what}`),
  });
}
