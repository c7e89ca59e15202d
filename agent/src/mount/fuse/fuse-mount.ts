import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { LockstepError } from '@lockstep/shared';
import { errnoOf, MountError } from '../errno.ts';
import type { FuseStat, Handlers } from './handlers.ts';

const execute = promisify(execFile);

type Reply = (error: number, ...values: unknown[]) => void;

/** The parts of `@cocalc/fuse-native` in use: its own types are missing if it is not installed. */
interface FuseModule {
  new (mountPoint: string, operations: Record<string, (...args: never[]) => void>, options: object): NativeMount;
}

interface NativeMount {
  /** A private member: its list of options lacks some that libfuse has. */
  _fuseOptions(): string;
  /** Two more: the answers to questions about attributes. */
  _op_getattr(this: { readonly ops: object }, signal: unknown, path: string): void;
  _op_fgetattr(signal: unknown, path: string, handle: number): void;
  /** Another one: what the threads of the kernel's requests call, by number. */
  readonly _handlers: ((request: Buffer, number: unknown, path: unknown, ...words: number[]) => void)[];
  mount(done: (error: Error | null) => void): void;
}

/** How long the kernel may answer from its own cache after a change by the folder or another member. */
const kernelCacheSeconds = 1;

const installing = 'apt-get install -y libfuse-dev fuse3, and then install Lockstep again.';

/** Loads the library. Throws 'mount-unavailable' with what to install. It is used on Linux only: drafts need its /proc. */
export function loadFuse(load: (name: string) => unknown = createRequire(import.meta.url)): FuseModule {
  if (process.platform !== 'linux') {
    throw new LockstepError(
      'mount-unavailable',
      'lockstep mount needs Linux. Use the folder itself, or its URLs (docs/API.md).',
    );
  }
  try {
    return load('@cocalc/fuse-native') as FuseModule;
  } catch (cause) {
    throw new LockstepError(
      'mount-unavailable',
      `lockstep mount needs the package @cocalc/fuse-native, which is not here or cannot be loaded: ${installing}`,
      { cause },
    );
  }
}

/** Removes the mount at `mountPoint`. Programs that have files open there keep them until this process ends. */
export async function unmount(mountPoint: string): Promise<void> {
  try {
    await execute('fusermount3', ['-u', '-z', mountPoint]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await execute('fusermount', ['-u', '-z', mountPoint]);
  }
}

/** Mounts at `mountPoint`. `isUp`: false while the agent does not answer; every request then fails with EIO. */
export async function mountFuse(
  Fuse: FuseModule,
  mountPoint: string,
  handlers: Handlers,
  isUp: () => boolean,
): Promise<void> {
  const asked = operations(handlers, isUp);
  const native = new Fuse(mountPoint, asked, { timeout: false });
  native._fuseOptions = () => `-o${options.join(',')}`;
  passModificationTime(native);
  const { _op_getattr: getattr } = native;
  const { fgetattr } = asked;
  // Release 2.4.3 answers by the path, which may be another version's by now.
  native._op_fgetattr = (signal, path, handle) => {
    const ofHandle = (_path: string, reply: Reply): void => fgetattr?.(...([path, handle, reply] as never[]));
    getattr.call({ ops: { getattr: ofHandle } }, signal, path);
  };
  await new Promise<void>((resolve, reject) =>
    native.mount((error) => (error === null || error === undefined ? resolve() : reject(error))),
  );
}

/** The number of `utimens` in the library, and where its 64-bit record of a request has the two times, in milliseconds. */
const utimensNumber = 12;
const accessTimeOffset = 104;
const modificationTimeOffset = 112;

/**
 * Release 2.4.3 passes the time of access as that of modification too. The right one is in its record of the request. And it passes unsigned
 * words: the high one, as a signed number, makes a time before 1970 negative again.
 */
function passModificationTime({ _handlers: handlers }: NativeMount): void {
  const original = handlers[utimensNumber];
  if (original === undefined) return;
  handlers[utimensNumber] = (request, number, path, low = 0, high = 0, ...times) => {
    const isAt = (offset: number): boolean =>
      request.length >= offset + 8 && request.readUInt32LE(offset) === low && request.readUInt32LE(offset + 4) === high;
    const [modifiedLow = 0, modifiedHigh = 0] = isAt(accessTimeOffset)
      ? [request.readUInt32LE(modificationTimeOffset), request.readUInt32LE(modificationTimeOffset + 4)]
      : times;
    original(request, number, path, low, high | 0, modifiedLow, modifiedHigh | 0);
  };
}

const options = [
  'fsname=lockstep',
  'subtype=lockstep',
  // Requests of 128 KiB rather than 4 KiB.
  'big_writes',
  'max_read=131072',
  // A file that is opened with O_TRUNC must not have an empty version first.
  'atomic_o_trunc',
  'default_permissions',
  // Pages stay in the cache of the kernel until a file is opened whose time or size is another one.
  'auto_cache',
  `attr_timeout=${kernelCacheSeconds}`,
  `entry_timeout=${kernelCacheSeconds}`,
  `ac_attr_timeout=0`,
  // Removes the mount when this process ends in any way.
  'auto_unmount',
];

function operations(handlers: Handlers, isUp: () => boolean): Record<string, (...args: never[]) => void> {
  /**
   * Answers with what `ask` returns, or with the number of its error. While the agent does not answer, `away` is asked instead, which fails.
   */
  const answering = <Args extends unknown[], Result>(
    ask: (...args: Args) => Promise<Result> | Result,
    tell: (reply: Reply, result: Result) => void,
    away: (...args: Args) => Promise<Result> | Result = refuse,
  ) => {
    return (...args: [...Args, Reply]): void => {
      const reply = args.pop() as Reply;
      const failed = (error: unknown): void => reply(errnoOf(error));
      try {
        const result = (isUp() ? ask : away)(...(args as unknown as Args));
        if (result instanceof Promise) result.then((value) => tell(reply, value), failed);
        else tell(reply, result);
      } catch (error) {
        failed(error);
      }
    };
  };
  const release = (_path: string, handle: number): Promise<void> => handlers.release(handle);
  const done = (reply: Reply): void => reply(0);
  const value = (reply: Reply, result: unknown): void => reply(0, result);
  /** The number of bytes takes the place of the error. */
  const count = (reply: Reply, result: number): void => reply(result);
  return {
    getattr: answering((path: string) => handlers.getattr(path), value as (reply: Reply, stat: FuseStat) => void),
    fgetattr: answering(
      (path: string, handle: number) => handlers.fgetattr(path, handle),
      value as (reply: Reply, stat: FuseStat) => void,
    ),
    readdir: answering(
      (path: string) => handlers.readdir(path),
      (reply, { names, stats }) => reply(0, names, stats),
    ),
    readlink: answering((path: string) => handlers.readlink(path), value),
    mkdir: answering((path: string, mode: number) => handlers.mkdir(path, mode), done),
    rmdir: answering((path: string) => handlers.rmdir(path), done),
    symlink: answering((target: string, path: string) => handlers.symlink(target, path), done),
    create: answering((path: string, mode: number) => handlers.create(path, mode), value),
    mknod: answering((path: string, mode: number, _device: number) => handlers.mknod(path, mode), done),
    open: answering((path: string, flags: number) => handlers.open(path, flags), value),
    read: answering(
      (_path: string, handle: number, buffer: Uint8Array, length: number, offset: number) =>
        handlers.read(handle, buffer.subarray(0, length), offset),
      count,
    ),
    write: answering(
      (_path: string, handle: number, bytes: Uint8Array, length: number, offset: number) =>
        handlers.write(handle, bytes.subarray(0, length), offset),
      count,
      // The draft lacks these bytes.
      (_path, handle) => handlers.refuseChange(handle),
    ),
    flush: answering((_path: string, handle: number) => handlers.flush(handle), done),
    fsync: answering((_path: string, _isData: number, handle: number) => handlers.fsync(handle), done),
    fsyncdir: answering((path: string, _isData: number, _handle: number) => handlers.fsyncdir(path), done),
    // A session ends even while the agent is away: the folder is there.
    release: answering(release, done, release),
    truncate: answering((path: string, size: number) => handlers.truncate(path, size), done),
    ftruncate: answering(
      (_path: string, handle: number, size: number) => handlers.ftruncate(handle, size),
      done,
      (_path, handle) => handlers.refuseChange(handle),
    ),
    chmod: answering((path: string, mode: number) => handlers.chmod(path, mode), done),
    utimens: answering((path: string, atime: number, mtime: number) => handlers.utimens(path, atime, mtime), done),
    chown: answering((path: string, uid: number, gid: number) => handlers.chown(path, uid, gid), done),
    rename: answering((from: string, to: string) => handlers.rename(from, to), done),
    unlink: answering((path: string) => handlers.unlink(path), done),
    link: answering((_from: string, _to: string) => handlers.link(), done),
    statfs: answering(
      (_path: string) => handlers.statfs(),
      (reply, room) =>
        reply(0, {
          bsize: room.blockBytes,
          frsize: room.blockBytes,
          blocks: room.blocks,
          bfree: room.freeBlocks,
          bavail: room.availableBlocks,
          files: room.files,
          ffree: room.freeFiles,
          favail: room.freeFiles,
          namemax: 255,
        }),
    ),
  } as Record<string, (...args: never[]) => void>;
}

function refuse(): never {
  throw new MountError('EIO');
}
