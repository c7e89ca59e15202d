import { describe } from 'vitest';
import { openDirectoryContract } from '../../fs/open-directory.contract.ts';
import { Life } from '../base/life.ts';
import { Random } from '../base/random.ts';
import { Scheduler } from '../base/scheduler.ts';
import { WallClock } from '../base/sim-clock.ts';
import { Volume } from '../disk/volume.ts';
import { folderRoot } from './call-gate.ts';
import { ReplaceWatch } from './replace-watch.ts';
import { SimCalls } from './sim-calls.ts';
import { idleWitness } from './sim-folder.ts';

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
    replacements: new ReplaceWatch(() => {}),
  });
}

describe('an open directory', () => {
  openDirectoryContract(() => ({ calls: openCalls(), root: folderRoot }));
});
