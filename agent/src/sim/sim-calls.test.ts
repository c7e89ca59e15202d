import { describe } from 'vitest';
import { openDirectoryContract } from '../fs/open-directory.contract.ts';
import { Life } from './life.ts';
import { LookWatch } from './look-watch.ts';
import { Random } from './random.ts';
import { Scheduler } from './scheduler.ts';
import { folderRoot, SimCalls } from './sim-calls.ts';
import { WallClock } from './sim-clock.ts';
import { idleWitness } from './sim-folder.ts';
import { Volume } from './volume.ts';

function openCalls(): SimCalls {
  const random = new Random(7);
  const wall = new WallClock(new Scheduler(random.fork()), 0);
  return new SimCalls({
    ...idleWitness,
    volume: new Volume({ wallMs: () => wall.preciseMs() }),
    life: new Life(),
    random,
    wall,
    callMsMax: 1,
    canSyncFileSystem: true,
    between: () => {},
    looked: new LookWatch(() => {}),
  });
}

describe('a directory that is open', () => {
  openDirectoryContract(() => ({ calls: openCalls(), root: folderRoot }));
});
