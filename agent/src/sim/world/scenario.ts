import { transactionRowsMax } from '@lockstep/shared';
import type { Random } from '../base/random.ts';
import type { WatchConduct } from '../folder/sim-watcher.ts';
import type { NetworkConduct } from '../network/sim-network.ts';

const dayMs = 86_400_000;
/** Long enough for members to start, and short enough that an idle run is cheap. */
const workMsMin = 800;
const workMsMax = 8_000;
/** Two machines are set back twice in this time. */
const forkWorkMsMin = 6_000;
const forkPauseMsMin = 300;
const forkEveryMsMin = 500;
const forkEveryMsMax = 1_500;

/** The faults in a run, with their weights; 0 excludes a fault. */
export interface FaultWeights {
  readonly killed: number;
  readonly powerCut: number;
  readonly crashInside: number;
  readonly powerCutInside: number;
  readonly stopped: number;
  readonly cutRefused: number;
  readonly cutSilent: number;
  readonly partition: number;
  readonly clockJump: number;
  readonly unmounted: number;
  readonly diskMounted: number;
  readonly diskAway: number;
  readonly diskHidden: number;
  readonly diskFull: number;
  readonly callsFail: number;
  readonly journalLost: number;
  readonly snapshot: number;
  readonly setBack: number;
  readonly setBackTogether: number;
  readonly newcomer: number;
  readonly wait: number;
  readonly waitThenDestroy: number;
}

/** The parameters of one run, all drawn from its seed before it begins. */
export interface Scenario {
  readonly members: number;
  /** How long users act and faults occur. */
  readonly workMs: number;
  /** The longest pause of a user between two actions. */
  readonly pauseMsMax: number;
  /** Members with files in their folder before the first start. */
  readonly filledAtStart: number;
  readonly network: NetworkConduct;
  readonly watch: WatchConduct;
  readonly callMsMax: number;
  /** The disks have birth times. */
  readonly keepsBirths: boolean;
  /** A sync of any inode also writes all earlier names. */
  readonly ordersNames: boolean;
  /** The disks support syncfs(2). */
  readonly canSyncFileSystem: boolean;
  /** Messages pass through the real codec. */
  readonly isEncoded: boolean;
  /** Each member has the addresses of all others, or only of the next one. */
  readonly knowsAll: boolean;
  readonly clockOffsetsMs: readonly number[];
  /** The longest time between two faults; infinite in a run without faults. */
  readonly faultEveryMsMax: number;
  readonly faults: FaultWeights;
  /** How long nothing may change after convergence. */
  readonly quietMs: number;
  /** Bits flip on one member's disk after all other faults. */
  readonly rots: boolean;
  /** Users keep disk images: large files of one size and time, which replace each other. */
  readonly keepsImages: boolean;
  /** Users change files through mappings, and through hard links outside the folder. */
  readonly mapsFiles: boolean;
  /** Files above one block are so large that their blocks come from several members. */
  readonly hasLargeFiles: boolean;
  /** The largest number of changes by users between two system calls of an agent, on the entry in use. */
  readonly meddlesMax: number;
  /** How many of the members fetch contents on demand, the last ones, and the bytes of their caches. */
  readonly onDemand: number;
  readonly cacheBytes: number;
  /** A person sets on how many members contents are kept. */
  readonly setsCopies: boolean;
  /** Files are read on these members. */
  readonly reads: boolean;
  /** Operations or rows that one transaction journals. With few of them, agents are killed and members cut off in the middle of a change. */
  readonly transactionRows: number;
}

/** The parameters that a machine needs. */
export interface MachineConduct
  extends Pick<
    Scenario,
    | 'watch'
    | 'callMsMax'
    | 'keepsBirths'
    | 'ordersNames'
    | 'canSyncFileSystem'
    | 'rots'
    | 'cacheBytes'
    | 'transactionRows'
  > {
  readonly faults: Pick<FaultWeights, 'setBack'>;
}

/** Draws the parameters of a run. Most runs are small: most violations need few members. */
export function drawScenario(random: Random): Scenario {
  const sometimes = (chance: number, weight: number) => (random.chance(chance) ? weight : 0);
  const members = random.pick([2, 2, 2, 3, 3, 3, 3, 4, 5]);
  const isWrong = random.chance(0.25);
  const pauseMsMax = random.pick([100, 300, 1_000, 2_000]);
  // On average a user pauses for a quarter of the longest pause.
  const actions = random.pick([10, 10, 10, 10, 10, 20, 20, 20, 20, 20, 20, 40, 40, 40, 40, 80, 160]);
  const workMs = Math.min(workMsMax, Math.max(workMsMin, (actions * pauseMsMax) / 4 / members));
  const setBack = sometimes(0.15, 3);
  const powerCut = sometimes(0.4, 4);
  // Snapshots and the write cache only cover the folder's own disk.
  const nestedDisks = setBack === 0 && powerCut === 0 ? sometimes(0.4, 3) : 0;
  const scenario: Scenario = {
    members,
    workMs,
    pauseMsMax,
    filledAtStart: random.chance(0.4) ? random.below(members + 1) : 0,
    network: { delayMsMax: random.pick([1, 20, 100, 400]), bytesPerMs: random.pick([10, 100, 1e6, 1e6]) },
    watch: { delayMsMax: random.pick([1, 15, 60]), overflowChance: random.chance(0.2) ? 0.03 : 0 },
    callMsMax: random.pick([0.1, 1, 5]),
    isEncoded: random.chance(0.1),
    knowsAll: random.chance(0.7),
    clockOffsetsMs: Array.from({ length: members }, () => {
      return isWrong ? random.pick([0, 0, dayMs, -dayMs, 5_000]) : random.between(-20, 20);
    }),
    faultEveryMsMax: random.chance(0.15) ? Number.POSITIVE_INFINITY : workMs * random.pick([0.1, 0.3, 0.8]),
    faults: {
      killed: sometimes(0.6, 3),
      powerCut,
      crashInside: sometimes(0.6, 5),
      powerCutInside: powerCut,
      stopped: sometimes(0.4, 2),
      cutRefused: sometimes(0.5, 3),
      cutSilent: sometimes(0.3, 3),
      partition: sometimes(0.4, 2),
      clockJump: sometimes(0.2, 2),
      unmounted: sometimes(0.15, 2),
      diskMounted: nestedDisks,
      diskAway: 2 * nestedDisks,
      diskHidden: nestedDisks,
      diskFull: sometimes(0.15, 2),
      callsFail: sometimes(0.15, 2),
      journalLost: sometimes(0.15, 1),
      snapshot: setBack,
      setBack,
      setBackTogether: 0,
      newcomer: sometimes(0.25, 1),
      wait: 3,
      waitThenDestroy: members > 2 ? sometimes(0.3, 8) : 0,
    },
    quietMs: random.chance(0.2) ? 60_000 : 5_000,
    keepsBirths: random.chance(0.6),
    ordersNames: random.chance(0.5),
    canSyncFileSystem: random.chance(0.5),
    rots: random.chance(0.3),
    keepsImages: random.chance(0.1),
    mapsFiles: random.chance(0.3),
    meddlesMax: random.pick([0, 0, 3, 10, 30]),
    hasLargeFiles: false,
    onDemand: 0,
    cacheBytes: 0,
    setsCopies: false,
    reads: true,
    transactionRows: transactionRowsMax,
  };
  // Drawn last, so that it changes no other world.
  const hasForks = members > 2 && random.chance(0.15);
  // The age of a change is unknown while the clock jumps, as GUARANTEES says of mappings.
  const mapsFiles = scenario.mapsFiles && scenario.faults.clockJump === 0;
  const hasLargeFiles = members > 2 && random.chance(0.4);
  const drawn = { ...scenario, mapsFiles, hasLargeFiles };
  const other = hasForks ? withForks(drawn) : random.chance(0.2) ? withOnDemand(drawn, random) : drawn;
  return random.chance(0.4) ? { ...other, transactionRows: 1 + random.below(4) } : other;
}

/** A cache with room for all files of a world, large ones included. */
export const roomyBytes = 1_000_000_000;

/** Some members have small caches, and sometimes none has the whole folder. */
function withOnDemand(scenario: Scenario, random: Random): Scenario {
  const { faults, members } = scenario;
  const isNoneFull = random.chance(0.3);
  const setsCopies = random.chance(0.6);
  const reads = !setsCopies || random.chance(0.3);
  return {
    ...scenario,
    onDemand: isNoneFull ? members : 1 + random.below(members - 1),
    cacheBytes: random.pick(reads ? [100, 400, 5_000_000] : [400, roomyBytes, roomyBytes]),
    setsCopies,
    reads,
    faults: { ...faults, snapshot: 0, setBack: 0, journalLost: 0, waitThenDestroy: 0 },
  };
}

/** Some machines are set back repeatedly, while the others that know their last operations are away. Both branches need time to grow. */
function withForks(scenario: Scenario): Scenario {
  const { faults, workMs, pauseMsMax, faultEveryMsMax } = scenario;
  const setBack = Math.max(1, faults.setBack);
  return {
    ...scenario,
    workMs: Math.max(workMs, forkWorkMsMin),
    pauseMsMax: Math.max(pauseMsMax, forkPauseMsMin),
    faultEveryMsMax: Math.min(Math.max(faultEveryMsMax, forkEveryMsMin), forkEveryMsMax),
    faults: { ...faults, setBack, setBackTogether: 12, diskMounted: 0, diskAway: 0, diskHidden: 0 },
  };
}
