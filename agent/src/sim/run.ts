import { CrashedError } from './base/life.ts';
import { Random } from './base/random.ts';
import type { Violation } from './base/violation.ts';
import { checkConverged, checkGone, checkHeld, checkKept, checkReplay, checkWhole } from './world/check.ts';
import { Faults } from './world/faults.ts';
import type { Machine } from './world/machine.ts';
import { drawScenario } from './world/scenario.ts';
import { World } from './world/world.ts';

/** By then everything must be level, however unlucky the back-offs were. */
const convergeMsMax = 180_000;
const checkEveryMs = 250;
const beforeRotMs = 5_000;
/** Messages, heartbeats aside, that getting level may take: some for each member, and some for each operation and member. */
const messagesMin = 2_000;
const messagesPerOperation = 40;
/** What follows convergence without being part of it: syncs after one that failed, acknowledgements that are written down, events for people. */
const afterwardsMs = 25_000;
/** All that is settled without its content is settled within this time. */
const lostSettledMs = 60_000;

/** The outcome of one seed. */
export interface Outcome {
  readonly seed: number;
  readonly violation: Violation | undefined;
  readonly story: readonly string[];
  readonly tasks: number;
  /** From the end of all trouble to convergence, in virtual time. */
  readonly convergedAfterMs: number;
}

/** Runs the world of one seed from beginning to end and checks the rules. */
export async function runSeed(seed: number, options: { readonly tellsStory: boolean }): Promise<Outcome> {
  const random = new Random(seed);
  const world = new World(drawScenario(random.fork()), random.fork(), options);
  const { scheduler, story, scenario } = world;
  story.tell('', () => `scenario: ${JSON.stringify(scenario)}`);
  const faults = new Faults(world, random.fork());
  const isBroken = () => world.violation !== undefined;
  let convergedAfterMs = 0;
  const rejected = (error: unknown) => {
    // What a crashed agent leaves behind is nobody's concern.
    if (!(error instanceof CrashedError))
      world.violate('Sound', `a promise was rejected, and nobody heard: ${describe(error)}`);
  };
  process.on('unhandledRejection', rejected);
  try {
    faults.start();
    await scheduler.run(scenario.workMs, isBroken);
    world.stopUsers();
    faults.repair();
    story.tell('', () => 'users stop, everything is repaired');
    // Actions that users had begun, and agents that were to come back, end within this time.
    await scheduler.run(scheduler.nowMs + 500, isBroken);
    if (scenario.rots && !isBroken()) {
      // Whatever was said before of who holds what has been checked by then.
      await scheduler.run(scheduler.nowMs + beforeRotMs, isBroken);
      faults.rot();
    }
    if (!isBroken()) convergedAfterMs = await converge(world);
    if (!isBroken()) checkEnd(world);
    if (!isBroken()) await checkQuiet(world);
  } catch (error) {
    world.violate('Sound', `an agent threw: ${describe(error)}`);
  } finally {
    world.close();
    // Node tells of rejections when it has no more ticks to run.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', rejected);
  }
  return { seed, violation: world.violation, story: story.lines, tasks: scheduler.tasksRun, convergedAfterMs };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Where it happened, without the machinery below.
  return (error.stack ?? error.message).split('\n').slice(0, 5).join(' | ');
}

async function converge(world: World): Promise<number> {
  const { scheduler, tally } = world;
  const sinceMs = scheduler.nowMs;
  const messagesBefore = tally.messages;
  for (;;) {
    const open = checkConverged(world);
    if (open === undefined) break;
    if (scheduler.nowMs - sinceMs > convergeMsMax) {
      world.violate('Converge', `after ${convergeMsMax / 1_000} s ${open}`);
      break;
    }
    await scheduler.run(scheduler.nowMs + checkEveryMs, () => world.violation !== undefined);
    if (world.violation !== undefined) break;
  }
  const operations = world.standing[0]?.journal.counts().operations ?? 0;
  const most = world.standing.length * (messagesMin + messagesPerOperation * operations);
  const messages = tally.messages - messagesBefore;
  if (messages > most) world.violate('Converge', `${messages} messages for ${operations} operations`);
  world.story.tell('', () => `level after ${scheduler.nowMs - sinceMs} ms and ${messages} messages`);
  return scheduler.nowMs - sinceMs;
}

function checkEnd(world: World): void {
  const kept = checkKept(world);
  if (kept !== undefined) world.violate('Keep', kept);
  const gone = checkGone(world);
  if (gone !== undefined) world.violate('Gone', gone);
  const whole = checkWhole(world);
  if (whole !== undefined) world.violate('Atomic', whole);
  const replay = checkReplay(world);
  if (replay !== undefined) world.violate('Replay', replay);
}

async function checkQuiet(world: World): Promise<void> {
  const { scheduler, tally, scenario } = world;
  const isBroken = () => world.violation !== undefined;
  // A content that may be lost is settled without it only after all members have gone on lacking it.
  await scheduler.run(scheduler.nowMs + (world.mayLackContent ? lostSettledMs : afterwardsMs), isBroken);
  let changes = 0;
  // What others want on a disk inside a folder is staged again and again there, and reported.
  const isRetried = ({ volume, journal }: Machine): boolean =>
    (volume.devices.length > 0 || volume.timesHidden > 0) && journal.counts().pending > 0;
  const listened = world.standing.filter((machine) => !isRetried(machine));
  const stops = listened.map(({ volume }) => volume.disk.listen(() => changes++));
  const before = { ...tally };
  await scheduler.run(scheduler.nowMs + scenario.quietMs, isBroken);
  for (const stop of stops) stop();
  const writes = tally.journalWrites - before.journalWrites;
  if (writes > 0 && !world.standing.some(isRetried))
    world.violate('Quiet', `${writes} journal writes with nothing to do, the last: ${world.lastJournalWrite()}`);
  if (changes > 0) world.violate('Quiet', `${changes} changes of a disk with nothing to do`);
  const open = checkConverged(world);
  if (open !== undefined) world.violate('Converge', `no longer level after a while: ${open}`);
  const unheld = checkHeld(world);
  if (unheld !== undefined) world.violate('Durable', `after a while ${unheld}`);
}
