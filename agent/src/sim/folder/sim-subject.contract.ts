import { blockBytes } from '@lockstep/shared';
import type { FolderSubject } from '../../fs/folder-subject.contract.ts';
import type { Folder } from '../../sync/ports/folder.ts';
import { Life } from '../base/life.ts';
import { Random } from '../base/random.ts';
import { Scheduler } from '../base/scheduler.ts';
import { WallClock } from '../base/sim-clock.ts';
import { type Content, contentOfBytes } from '../disk/content.ts';
import type { Inode } from '../disk/inode.ts';
import { Volume } from '../disk/volume.ts';
import { idleWitness, openSimFolder } from './sim-folder.ts';

/** A simulated folder, as the contract tests it, with the parts of its machine. */
export interface SimSubject extends FolderSubject {
  readonly volume: Volume;
  readonly life: Life;
  readonly scheduler: Scheduler;
  readonly crashed: Promise<'crashed'>;
  /** Calls `act` before the system call that is `count` calls ahead. */
  beforeCall(count: number, act: () => void): void;
  /** A new agent on the same volume. */
  reopen(): Folder;
}

/** Runs virtual time in the background while the test awaits results. */
export function openSimSubject({ canSyncFileSystem = true, ordersNames = true } = {}): SimSubject {
  const random = new Random(7);
  const scheduler = new Scheduler(random.fork());
  const wall = new WallClock(scheduler, 0);
  const volume = new Volume({ wallMs: () => wall.preciseMs(), ordersNames });
  const { disk } = volume;
  let closed = false;
  let callsLeft = 0;
  let atCall = (): void => {};
  const openFolder = (life: Life) =>
    openSimFolder({
      memberName: 'ant',
      volume,
      scheduler,
      random: random.fork(),
      life,
      wall,
      watch: { delayMsMax: 10, overflowChance: 0 },
      callMsMax: 1,
      canSyncFileSystem,
      witness: {
        ...idleWitness,
        between: () => {
          callsLeft -= 1;
          if (callsLeft === 0) atCall();
        },
      },
    });
  let life = new Life();
  const crashed = new Promise<'crashed'>((resolve) => {
    life = new Life(() => resolve('crashed'));
  });
  const turn = async (): Promise<void> => {
    await scheduler.run(scheduler.nowMs + 100);
    if (!closed) setImmediate(() => void turn());
  };
  void turn();
  return {
    folder: openFolder(life),
    volume,
    life,
    crashed,
    scheduler,
    reopen: () => openFolder(new Life()),
    beforeCall: (count, act) => {
      callsLeft = count;
      atCall = act;
    },
    user: {
      write: async (path, bytes) => void disk.write(path, contentOfBytes(bytes.slice())),
      mkdir: async (path) => void disk.mkdir(path),
      symlink: async (path, target) => void disk.symlink(path, target),
      rename: async (from, to) => disk.rename(from, to),
      remove: async (path) => {
        for (const [entry, { type }] of [...disk.entries(path)].reverse()) {
          if (type === 'directory') disk.rmdir(entry);
          else disk.unlink(entry);
        }
      },
      look: async (path) => {
        const inode = disk.at(path);
        return inode && found(inode);
      },
    },
    identify: (bytes) => {
      const { id, blocks } = contentOfBytes(bytes);
      return { content: id, ...(blocks && { blocks }) };
    },
    tick: () => scheduler.pause(10),
    close: async () => {
      closed = true;
    },
  };
}

function found(inode: Inode) {
  const common = { mode: inode.mode, mtimeUs: Math.round(inode.mtimeMs * 1_000) };
  if (inode.type === 'symlink') return { type: 'symlink', target: inode.target ?? '', ...common } as const;
  if (inode.type === 'directory') return { type: 'directory', ...common } as const;
  return { type: 'file', bytes: bytesOfContent(inode.content), ...common } as const;
}

/** Only the first bytes of a large block are real: the others are filled with the last of these. */
function bytesOfContent(content: Content | undefined): Uint8Array {
  if (content === undefined) return new Uint8Array();
  const bytes = new Uint8Array(content.size);
  for (const [index, part] of content.parts.entries()) {
    bytes.fill(part.at(-1) ?? 0, index * blockBytes, (index + 1) * blockBytes);
    bytes.set(part, index * blockBytes);
  }
  return bytes;
}
