import { describe, expect, test } from 'vitest';
import { openDirectoryContract } from '../../fs/open-directory.contract.ts';
import { Life } from '../base/life.ts';
import { Random } from '../base/random.ts';
import { Scheduler } from '../base/scheduler.ts';
import { WallClock } from '../base/sim-clock.ts';
import { contentOfText } from '../disk/content.ts';
import type { Inode } from '../disk/inode.ts';
import { Volume } from '../disk/volume.ts';
import { folderRoot } from './call-gate.ts';
import { ReplaceWatch } from './replace-watch.ts';
import { SimCalls } from './sim-calls.ts';
import { idleWitness } from './sim-folder.ts';

function newVolume(): Volume {
  return new Volume({ wallMs: () => 0 });
}

function openCalls(volume = newVolume(), replacements = new ReplaceWatch(() => {})): SimCalls {
  const random = new Random(7);
  return new SimCalls({
    ...idleWitness,
    volume,
    life: new Life(),
    random,
    wall: new WallClock(new Scheduler(random.fork()), 0),
    callMsMax: 1,
    canSyncFileSystem: true,
    between: () => {},
    replacements,
  });
}

describe('an open directory', () => {
  openDirectoryContract(() => ({ calls: openCalls(), root: folderRoot }));
});

// Encounter 15544: the agent acted in a directory that it had open, which had another path by then.
test('a file that a user renames onto a name is excused, also if they move its directory at once', () => {
  const volume = newVolume();
  const { disk } = volume;
  const lost: Inode[] = [];
  const watch = new ReplaceWatch((inode) => lost.push(inode));
  const calls = openCalls(volume, watch);
  disk.mkdir('d');
  disk.write('d/file', contentOfText('the version that the agent knows'));
  disk.write('/staged', contentOfText('its next version'));
  watch.begin();
  const directory = calls.openDirectory(`${folderRoot}/d`);
  const name = `${directory.path}/file`;
  calls.lstat(name);
  disk.write('d/saved', contentOfText('what an editor saves'));
  const saved = disk.inodeAt('d/saved');
  disk.rename('d/saved', 'd/file');
  disk.rename('d', 'moved');
  calls.rename('/staged', name);
  expect(disk.at('moved/file')).toBeDefined();
  expect(lost).toEqual([saved]);
});
