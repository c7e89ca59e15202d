import { folderContract } from '../fs/folder.contract.ts';
import type { FolderSubject, FolderUser, FoundEntry } from '../fs/folder-subject.contract.ts';
import type { Folder, ScannedDirectory } from '../sync/ports/folder.ts';
import { contentOfBytes } from './content.ts';
import { Life } from './life.ts';
import { Random } from './random.ts';
import { Scheduler } from './scheduler.ts';
import { SimFolder } from './sim-folder.ts';
import { Volume } from './volume.ts';

/** Virtual time in which everything that was begun comes to its end. */
const enoughMs = 60_000;

/** A simulated folder whose time runs while somebody waits for it. */
async function openSimSubject(): Promise<FolderSubject> {
  const random = new Random(1);
  const scheduler = new Scheduler(random);
  const wallMs = (): number => 1_700_000_000_000 + scheduler.nowMs;
  const volume = new Volume(wallMs);
  const folder = new SimFolder({
    volume,
    scheduler,
    random,
    life: new Life(),
    wallMs,
    watch: { delayMsMax: 5, overflowChance: 0 },
    callMsMax: 1,
    placed: () => undefined,
    tell: () => undefined,
  });
  const drive = async <T>(promise: Promise<T>): Promise<T> => {
    let settled = false;
    const done = promise.finally(() => {
      settled = true;
    });
    await scheduler.run(scheduler.nowMs + enoughMs, () => settled);
    return await done;
  };
  return {
    folder: driven(folder, drive),
    // Whatever a user does, the watcher has time to say so.
    user: userOf(volume, () => drive(scheduler.pause(1_000))),
    identify: (bytes) => {
      const { id, blocks } = contentOfBytes(bytes);
      return blocks === undefined ? { content: id } : { content: id, blocks };
    },
    close: async () => undefined,
  };
}

function driven(folder: Folder, drive: <T>(promise: Promise<T>) => Promise<T>): Folder {
  return {
    watch: (hint) => drive(folder.watch(hint)),
    unwatched: () => folder.unwatched(),
    observe: (requests) => drive(folder.observe(requests)),
    async *scan(directory, options): AsyncGenerator<readonly ScannedDirectory[]> {
      const chunks = folder.scan(directory, options)[Symbol.asyncIterator]();
      for (;;) {
        const next = await drive(Promise.resolve(chunks.next()));
        if (next.done) return;
        yield next.value;
      }
    },
    apply: (requests) => drive(folder.apply(requests)),
    stageBlock: (request) => drive(folder.stageBlock(request)),
    unstage: (content) => drive(folder.unstage(content)),
    readBlock: (request) => drive(folder.readBlock(request)),
    inHistory: (contents) => drive(folder.inHistory(contents)),
    keep: (request) => drive(folder.keep(request)),
    trimHistory: (bytesMax, needed) => drive(folder.trimHistory(bytesMax, needed)),
    health: () => drive(folder.health()),
  };
}

function userOf({ disk }: Volume, rest: () => Promise<void>): FolderUser {
  const act = async (action: () => unknown): Promise<void> => {
    action();
    await rest();
  };
  return {
    write: (path, bytes) => act(() => disk.write(path, contentOfBytes(bytes.slice()))),
    mkdir: (path) => act(() => disk.mkdir(path)),
    symlink: (path, target) => act(() => disk.symlink(path, target)),
    rename: (from, to) => act(() => disk.rename(from, to)),
    remove: (path) =>
      act(() => {
        for (const [below, inode] of [...disk.entries(path)].reverse()) {
          if (inode.type === 'directory') disk.rmdir(below);
          else disk.unlink(below);
        }
      }),
    look: async (path): Promise<FoundEntry | undefined> => {
      const inode = disk.at(path);
      if (inode === undefined || inode.type === 'special') return undefined;
      const common = { mode: inode.mode, mtimeUs: Math.floor(inode.mtimeMs * 1000) };
      if (inode.type === 'symlink') return { type: 'symlink', target: inode.target ?? '', ...common };
      if (inode.type === 'directory') return { type: 'directory', ...common };
      const parts = inode.content?.parts ?? [];
      return { type: 'file', bytes: new Uint8Array(Buffer.concat(parts)), ...common };
    },
  };
}

folderContract(openSimSubject);
