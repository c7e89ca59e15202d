import { CrashedError } from './base/life.ts';
import { Random } from './base/random.ts';
import type { Violation } from './base/violation.ts';
import { checkConverged, checkGone, checkHeld, checkKept, checkReplay, checkWhole, lostPaths } from './world/check.ts';
import { checkCopies } from './world/check-copies.ts';
import { EncounterWorld, encounterScenario } from './world/encounter-world.ts';
import { Faults } from './world/faults.ts';
import type { Machine } from './world/machine.ts';
import { drawScenario } from './world/scenario.ts';
import { checkTold } from './world/told-contents.ts';
import { World } from './world/world.ts';

/** The time within which all members must converge, even with unfavourable backoffs. */
const convergeMsMax = 180_000;
const checkEveryMs = 250;
const beforeRotMs = 5_000;
/** Messages allowed until convergence, without heartbeats: a number per member, and one per operation and member. */
const messagesMin = 2_000;
const messagesPerOperation = 40;
/** The time for work after convergence: retries of failed syncs, acknowledgements that are written, events for users. */
const afterwardsMs = 25_000;
/** The time within which paths with lost content are settled without it: a member whose cache has no room for it asks twice, up to a minute apart. */
const lostSettledMs = 130_000;
/** The time within which files beyond a cache are dropped: others have them for certain after half a minute, and are asked once a minute. */
const dropsEndMs = 100_000;
/**
 * A member tells at most so often how much room it has for copies, until what is placed on it fits: each time at least a twentieth less, down
 * to a sixteenth of its cache (`core/copies/room.ts`).
 */
const roomEveryMs = 60_000;
const roomsToldMax = 60;

/** The outcome of one seed. */
export interface Outcome {
  readonly seed: number;
  readonly violation: Violation | undefined;
  readonly story: readonly string[];
  readonly tasks: number;
  /** From the last fault to convergence, in virtual time. */
  readonly convergedAfterMs: number;
}

/** Runs the world of one seed to its end and checks the rules. `hasEncounters`: it is a world of encounters. */
export async function runSeed(
  seed: number,
  options: { readonly keepsStory: boolean; readonly hasEncounters: boolean },
): Promise<Outcome> {
  const random = new Random(seed);
  const drawn = drawScenario(random.fork());
  const encounters = options.hasEncounters
    ? new EncounterWorld(encounterScenario(drawn), random.fork(), options)
    : undefined;
  const world = encounters ?? new World(drawn, random.fork(), options);
  const { scheduler, story, scenario } = world;
  story.add('', () => `scenario: ${JSON.stringify(scenario)}`);
  const faults = new Faults(world, random.fork());
  const isBroken = () => world.violation !== undefined;
  let convergedAfterMs = 0;
  const rejected = (error: unknown) => {
    // Rejections of a crashed agent do not matter.
    if (!(error instanceof CrashedError)) world.violate('Sound', `an unhandled rejection: ${describe(error)}`);
  };
  process.on('unhandledRejection', rejected);
  try {
    if (encounters !== undefined) await encounters.play(faults, random.fork(), isBroken);
    else {
      faults.start();
      await scheduler.run(scenario.workMs, isBroken);
    }
    world.stopUsers();
    faults.repair();
    story.add('', () => 'users stop, everything is repaired');
    // Pending actions of users and restarts of agents end within this time.
    await scheduler.run(scheduler.nowMs + 500, isBroken);
    if (scenario.rots && !isBroken()) {
      // Earlier claims about who holds what have been checked by then.
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
    // Node reports unhandled rejections when it has no more ticks to run.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', rejected);
  }
  return { seed, violation: world.violation, story: story.lines, tasks: scheduler.tasksRun, convergedAfterMs };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The location of the error, without the frames below.
  return (error.stack ?? error.message).split('\n').slice(0, 5).join(' | ');
}

async function converge(world: World): Promise<number> {
  const { scheduler, tally } = world;
  const sinceMs = scheduler.nowMs;
  const messagesBefore = tally.messages;
  for (;;) {
    const open = checkConverged(world);
    const short = open === undefined ? checkCopies(world) : undefined;
    if (open === undefined && short === undefined) break;
    if (scheduler.nowMs - sinceMs > convergeMsMax) {
      if (open !== undefined) world.violate('Converge', `after ${convergeMsMax / 1_000} s ${open}`);
      else world.violate('Copies', `after ${convergeMsMax / 1_000} s ${short}`);
      break;
    }
    await scheduler.run(scheduler.nowMs + checkEveryMs, () => world.violation !== undefined);
    if (world.violation !== undefined) break;
  }
  const operations = world.remaining[0]?.journal.log.length() ?? 0;
  const most = world.remaining.length * (messagesMin + messagesPerOperation * operations);
  const messages = tally.messages - messagesBefore;
  if (messages > most) world.violate('Converge', `${messages} messages for ${operations} operations`);
  world.story.add('', () => `converged after ${scheduler.nowMs - sinceMs} ms and ${messages} messages`);
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

/** Runs until no member tells another room for copies. */
async function settleRooms(world: World): Promise<void> {
  const { scheduler, remaining, scenario } = world;
  // Without rules only the room on the disks changes, and a member tells that again after a minute.
  const disksChange = scenario.onDemand > 0 && scenario.faults.diskFull > 0;
  if (!scenario.setsCopies && !disksChange) return;
  const told = () => JSON.stringify(remaining.map(({ journal }) => journal.members.all().map(({ room }) => room)));
  for (let times = 0; times < roomsToldMax; times++) {
    const before = told();
    await scheduler.run(scheduler.nowMs + roomEveryMs + checkEveryMs, () => world.violation !== undefined);
    if (told() === before) return;
  }
  world.violate('Quiet', `members told another room ${roomsToldMax} times: ${told()}`);
}

/** How long members may have work after convergence. */
function workLeftMs(world: World): number {
  const { remaining, scenario } = world;
  const isOverfull = ({ isOnDemand, journal }: Machine): boolean =>
    isOnDemand && journal.totals.counts().disk.bytes > scenario.cacheBytes;
  if (remaining.some(isOverfull)) return dropsEndMs;
  // A path is only settled without its content after no member has had that for some time.
  return lostPaths(world).size > 0 ? lostSettledMs : afterwardsMs;
}

async function checkQuiet(world: World): Promise<void> {
  const { scheduler, tally, scenario } = world;
  const isBroken = () => world.violation !== undefined;
  await settleRooms(world);
  await scheduler.run(scheduler.nowMs + workLeftMs(world), isBroken);
  let changes = 0;
  // Operations of others on a disk inside a folder are staged there repeatedly, and reported.
  const isRetried = ({ volume, journal }: Machine): boolean =>
    (volume.devices.length > 0 || volume.timesHidden > 0) && journal.totals.counts().pending > 0;
  const listened = world.remaining.filter((machine) => !isRetried(machine));
  const stops = listened.map(({ volume }) => volume.disk.listen(() => changes++));
  const before = { ...tally };
  await scheduler.run(scheduler.nowMs + scenario.quietMs, isBroken);
  for (const stop of stops) stop();
  const writes = tally.journalWrites - before.journalWrites;
  if (writes > 0 && !world.remaining.some(isRetried))
    world.violate('Quiet', `${writes} journal writes with nothing to do, the last: ${world.lastJournalWrite()}`);
  if (changes > 0) world.violate('Quiet', `${changes} changes of a disk with nothing to do`);
  const open = checkConverged(world);
  if (open !== undefined) world.violate('Converge', `no longer converged after a while: ${open}`);
  const unheld = checkHeld(world);
  if (unheld !== undefined) world.violate('Durable', `after a while ${unheld}`);
  const untold = checkTold(world);
  if (untold !== undefined) world.violate('Told', `after a while ${untold}`);
}
