import { blockBytes } from '@lockstep/shared';
import type { ShownFiles } from '../../fs/apply/left-files.ts';
import { DiskFolder } from '../../fs/disk-folder.ts';
import { syncPath } from '../../fs/durable.ts';
import { openPlaces } from '../../fs/open-folder.ts';
import { temporaryNames } from '../../fs/places.ts';
import type { ControlCalls } from '../../fs/system-calls.ts';
import type { Folder } from '../../sync/ports/folder.ts';
import type { Life } from '../base/life.ts';
import type { Random } from '../base/random.ts';
import type { Scheduler } from '../base/scheduler.ts';
import type { WallClock } from '../base/sim-clock.ts';
import { simBlockHash } from '../disk/content.ts';
import type { Inode } from '../disk/inode.ts';
import type { Volume } from '../disk/volume.ts';
import { folderRoot, stateRoot } from './call-gate.ts';
import { ReplaceWatch } from './replace-watch.ts';
import { type PlacedListener, SimCalls } from './sim-calls.ts';
import { SimJobs, whileAlive } from './sim-jobs.ts';
import { SimWatcher, type WatchConduct } from './sim-watcher.ts';

/** An observation of a path makes about ten calls. */
const callsPerObservation = 10;

export interface SimFolderOptions {
  readonly memberName: string;
  readonly volume: Volume;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly life: Life;
  readonly wall: WallClock;
  readonly watch: WatchConduct;
  /** The longest duration of an observation of one path. */
  readonly callMsMax: number;
  readonly canSyncFileSystem: boolean;
  readonly shown?: ShownFiles;
  /** Receives the actions of an agent in its folder, and lets others act meanwhile. */
  readonly witness: FolderWitness;
}

export interface FolderWitness {
  /** An agent put a file into its folder. */
  readonly placed: PlacedListener;
  /** An agent is about to make a system call: others may act first. A path of the folder is relative to it. */
  readonly between: (path: string, aheadMs: number) => void;
  /** An agent begins to watch its folder, and compares it with its journal from now on. */
  readonly watches: () => void;
  /** An agent changed or read something behind this link. */
  readonly followed: (link: string) => void;
  /** A file that a user renamed to its name just before was replaced unseen. */
  readonly replacedUnseen: (inode: Inode) => void;
  /** Adds the result of an action to the story. */
  readonly record: (what: () => string) => void;
}

/** For a folder that only the agent changes. */
export const idleWitness: FolderWitness = {
  placed: () => undefined,
  between: () => undefined,
  watches: () => undefined,
  followed: () => undefined,
  replacedUnseen: () => undefined,
  record: () => undefined,
};

/**
 * Opens the folder of a member for one life of its agent: the real folder code on simulated system calls. Throws if it cannot be opened, or
 * the agent dies meanwhile.
 */
export function openSimFolder(options: SimFolderOptions): Folder {
  const { volume, scheduler, random, life, wall, witness } = options;
  const replacements = new ReplaceWatch(witness.replacedUnseen);
  const calls = new SimCalls({
    volume,
    life,
    random,
    wall,
    callMsMax: options.callMsMax / callsPerObservation,
    canSyncFileSystem: options.canSyncFileSystem,
    placed: witness.placed,
    followed: witness.followed,
    replacements,
    between: (path) => {
      replacements.count();
      witness.between(path, wall.aheadMs);
    },
  });
  const [{ places, released }] = calls.during(() =>
    openPlaces({
      root: folderRoot,
      memberName: options.memberName,
      realRoot: () => folderRoot,
      state: stateRoot,
      system: calls,
      hash: simBlockHash,
      temporaryName: temporaryNames('t'),
      shown: options.shown,
    }),
  );
  const waitMs = (): number => random.unit() ** 4 * options.callMsMax;
  return new DiskFolder({
    places,
    released,
    control: controlCalls(options, calls, waitMs),
    // The contents of most worlds are small.
    syncedAtOnceBytes: 2 * blockBytes,
    workers: new SimJobs({ places, calls, replacements, scheduler, life, waitMs, record: witness.record }),
    watches: (hint) => {
      witness.watches();
      return new SimWatcher({ volume, scheduler, random, life, conduct: options.watch, hint });
    },
  });
}

function controlCalls(options: SimFolderOptions, calls: SimCalls, waitMs: () => number): ControlCalls {
  const { volume, scheduler, life, wall } = options;
  return {
    stat: (path) => whileAlive(life, async () => calls.during(() => calls.stat(path))[0]),
    statfs: (path) => whileAlive(life, async () => calls.during(() => calls.statfs(path))[0]),
    isWritable: async () => true,
    openOnce: async () => undefined,
    canSyncFileSystem: options.canSyncFileSystem,
    syncFileSystem: () =>
      whileAlive(life, async () => {
        await scheduler.pause(waitMs(), life);
        if (volume.missing) return false;
        life.effect();
        volume.disk.cache.sync();
        await scheduler.pause(waitMs(), life);
        return true;
      }),
    syncFile: (path) =>
      whileAlive(life, async () => {
        await scheduler.pause(waitMs(), life);
        life.effect();
        calls.during(() => syncPath(calls, path));
        await scheduler.pause(waitMs(), life);
      }),
    wallMs: () => wall.preciseMs(),
    monotonicMs: () => scheduler.nowMs,
    turn: () => whileAlive(life, () => scheduler.pause(0, life)),
  };
}
