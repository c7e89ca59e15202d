import { DiskFolder } from '../../fs/disk-folder.ts';
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
import { LookWatch } from './look-watch.ts';
import { folderRoot, type PlacedListener, SimCalls, stateRoot } from './sim-calls.ts';
import { SimJobs, whileAlive } from './sim-jobs.ts';
import { SimWatcher, type WatchConduct } from './sim-watcher.ts';

/** A path is looked at by some ten calls. */
const callsOfLook = 10;

export interface SimFolderOptions {
  readonly memberName: string;
  readonly volume: Volume;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly life: Life;
  readonly wall: WallClock;
  readonly watch: WatchConduct;
  /** The longest time that a look at one path takes. */
  readonly callMsMax: number;
  readonly canSyncFileSystem: boolean;
  /** What an agent does to its folder, and what others do meanwhile. */
  readonly witness: FolderWitness;
}

export interface FolderWitness {
  /** An agent put something into its folder. */
  readonly placed: PlacedListener;
  /** Others may act: an agent is about to make a system call. A path of the folder is relative to it. */
  readonly between: (path: string, aheadMs: number) => void;
  /** An agent did or read something behind this link. */
  readonly followed: (link: string) => void;
  /** A file that a user gave a name in the last moment was replaced unseen. */
  readonly replacedUnseen: (inode: Inode) => void;
  /** Tells the story of the run what an action came to. */
  readonly tell: (what: () => string) => void;
}

/** For a folder at which nobody but the agent is at work. */
export const idleWitness: FolderWitness = {
  placed: () => undefined,
  between: () => undefined,
  followed: () => undefined,
  replacedUnseen: () => undefined,
  tell: () => undefined,
};

/**
 * Opens the folder of a member, for one life of its agent: the real one, over the calls of a simulated disk. Throws when it cannot be opened,
 * and when the agent dies meanwhile.
 */
export function openSimFolder(options: SimFolderOptions): Folder {
  const { volume, scheduler, random, life, wall, witness } = options;
  const looks = new LookWatch(witness.replacedUnseen);
  const calls = new SimCalls({
    volume,
    life,
    random,
    wall,
    callMsMax: options.callMsMax / callsOfLook,
    canSyncFileSystem: options.canSyncFileSystem,
    placed: witness.placed,
    followed: witness.followed,
    looked: looks,
    between: (path) => {
      looks.count();
      witness.between(path, wall.aheadMs);
    },
  });
  const [places] = calls.during(() =>
    openPlaces({
      root: folderRoot,
      memberName: options.memberName,
      realRoot: () => folderRoot,
      state: stateRoot,
      system: calls,
      hash: simBlockHash,
      temporaryName: temporaryNames('t'),
    }),
  );
  const waitMs = (): number => random.unit() ** 4 * options.callMsMax;
  return new DiskFolder({
    places,
    control: controlCalls(options, calls, waitMs),
    workers: new SimJobs({ places, calls, looks, scheduler, life, waitMs, tell: witness.tell }),
    watches: (hint) => new SimWatcher({ volume, scheduler, random, life, conduct: options.watch, hint }),
  });
}

function controlCalls(options: SimFolderOptions, calls: SimCalls, waitMs: () => number): ControlCalls {
  const { volume, scheduler, life, wall } = options;
  return {
    stat: (path) => whileAlive(life, async () => calls.during(() => calls.stat(path))[0]),
    statfs: (path) => whileAlive(life, async () => calls.during(() => calls.statfs(path))[0]),
    isWritable: async () => true,
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
    wallMs: () => wall.preciseMs(),
    monotonicMs: () => scheduler.nowMs,
  };
}
