import { isStateName, nameOf, pathFault } from '@lockstep/shared';
import { MountError } from '../errno.ts';
import type { LateRemoval } from '../files/late-removal.ts';
import type { OpenFiles } from '../files/open-files.ts';
import type { EntryKind, EntryStat, NamedEntry, Room, Soon } from '../ports/access.ts';
import { after } from '../soon.ts';
import { ShownSizes } from './shown-sizes.ts';

/** The name that libfuse gives to a file that is removed while a program has it open, until that closes it. */
const hiddenName = /^\.fuse_hidden[0-9a-f]{16}$/;

/** The character with which the library replaces bytes that are not UTF-8. Different names can become equal by that. */
const replacementCharacter = '\ufffd';

const typeBits: Record<EntryKind, number> = { file: 0o100000, directory: 0o040000, symlink: 0o120000 };
/** The kernel opens a file once more within this time, unless its program has ended. */
const openedAgainMs = 1_000;

const truncateFlag = 0o1000;
const appendFlag = 0o2000;
const accessMask = 0o3;
const typeMask = 0o170000;

/** The parts of the mount that the handlers use. */
export interface HandlerParts {
  readonly access: LateRemoval;
  readonly files: OpenFiles;
  /** The user of the mount, who owns everything in it. */
  readonly owner: { readonly uid: number; readonly gid: number };
}

/** The attributes of an entry as FUSE has them. */
export interface FuseStat {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  readonly nlink: number;
  readonly blocks: number;
  readonly atime: number;
  readonly mtime: number;
  readonly ctime: number;
}

/** The names in a directory with the types of their entries. */
interface Listing {
  readonly names: readonly string[];
  readonly stats: readonly { readonly mode: number }[];
}

/** Answers the requests of the kernel, each by the path in the mount. They throw an error with a code. They know no FUSE library. */
export class Handlers {
  readonly #access: LateRemoval;
  readonly #files: OpenFiles;
  readonly #owner: HandlerParts['owner'];
  readonly #shown = new ShownSizes();
  /** Files that the kernel opens once more, and what ends the first attempt. */
  readonly #openedAgain = new Map<string, () => void>();
  /** The handles whose writes go to the end of the file. */
  readonly #appending = new Set<number>();

  constructor({ access, files, owner }: HandlerParts) {
    this.#access = access;
    this.#files = files;
    this.#owner = owner;
  }

  getattr(mounted: string): Soon<FuseStat> {
    const path = known(mounted);
    return after(this.#stat(path), (stat) => this.#show(path, stat));
  }

  /** The attributes of the file that a program has open. */
  fgetattr(mounted: string, handle: number): FuseStat {
    return this.#show(known(mounted), this.#files.of(handle).file.stat());
  }

  /** The names in a directory with the types of their entries. */
  readdir(mounted: string): Soon<Listing> {
    const directory = known(mounted);
    return after(this.#access.list(directory), (entries) => this.#listing(directory, entries));
  }

  #listing(directory: string, all: readonly NamedEntry[]): Listing {
    const entries = all.filter(({ name }) => !isStateName(name));
    const listed = new Set(entries.map(({ name }) => name));
    const made = this.#files.newNames(directory).filter((name) => !listed.has(name));
    return {
      names: ['.', '..', ...listed, ...made],
      stats: [
        ...['directory', 'directory', ...entries.map(({ kind }) => kind), ...made.map(() => 'file')].map((kind) => ({
          mode: typeBits[kind as EntryKind],
        })),
      ],
    };
  }

  readlink(mounted: string): string {
    return this.#access.linkText(known(mounted));
  }

  mkdir(mounted: string, mode: number): Soon<void> {
    return this.#access.makeDirectory(writable(mounted), mode & ~typeMask);
  }

  rmdir(mounted: string): Soon<void> {
    const path = writable(mounted);
    this.#checkUnused(path);
    return this.#access.removeDirectory(path);
  }

  symlink(target: string, mounted: string): Soon<void> {
    return this.#access.makeLink(writable(mounted), target);
  }

  async create(mounted: string, mode: number): Promise<number> {
    const path = writable(mounted);
    this.#shown.forget(path);
    return this.#files.create(path, mode & ~typeMask);
  }

  /** Makes an empty file. Pipes, sockets and devices are not replicated. */
  async mknod(mounted: string, mode: number): Promise<void> {
    const type = mode & typeMask;
    if (type !== 0 && type !== typeBits.file) throw new MountError('EPERM');
    await this.#files.release(await this.create(mounted, mode));
  }

  async open(mounted: string, flags: number): Promise<number> {
    // A file that is only read may have any name.
    const isRead = (flags & (accessMask | truncateFlag)) === 0;
    const isEmptied = (flags & truncateFlag) !== 0;
    const path = isRead ? known(mounted) : writable(mounted);
    const handle = await (isEmptied ? this.#files.openEmpty(path) : this.#files.open(path, isRead));
    const { file } = this.#files.of(handle);
    if (!isEmptied && !file.isDraft && this.#shown.isOther(path, file.stat().size)) this.#openAgain(path, handle);
    try {
      this.#openedAgain.get(path)?.();
      if (isEmptied) await file.truncate(0);
      if ((flags & appendFlag) !== 0) this.#appending.add(handle);
      return handle;
    } catch (error) {
      await this.#files.release(handle);
      throw error;
    }
  }

  /** The kernel asks for the attributes after ESTALE, and opens the file once more: it must find the same version. */
  #openAgain(path: string, handle: number): never {
    this.#openedAgain.get(path)?.();
    this.#files.of(handle).file.expectRead();
    const end = (): void => {
      clearTimeout(timer);
      this.#openedAgain.delete(path);
      void this.#files.release(handle).catch(() => undefined);
    };
    const timer = setTimeout(end, openedAgainMs).unref();
    this.#openedAgain.set(path, end);
    throw new MountError('ESTALE');
  }

  read(handle: number, buffer: Uint8Array, offset: number): Promise<number> | number {
    const opened = this.#files.of(handle);
    return opened.file.read(buffer, offset, opened);
  }

  write(handle: number, bytes: Uint8Array, offset: number): Promise<number> | number {
    const opened = this.#files.of(handle);
    const { file } = opened;
    if (file.path !== undefined) this.#shown.forget(file.path);
    // The kernel takes the end for where it was up to a second ago: another version may be longer, or shorter.
    return this.#appending.has(handle) ? file.append(bytes, opened) : file.write(bytes, offset, opened);
  }

  /** Refuses a write or a truncation, while the agent does not answer. The draft is not published without it. */
  refuseChange(handle: number): Promise<never> | never {
    return this.#files.of(handle).file.refuse(new MountError('EIO'));
  }

  flush(handle: number): Promise<void> {
    return this.#files.of(handle).file.flush();
  }

  fsync(handle: number): Promise<void> {
    return this.#files.of(handle).file.publish(true);
  }

  fsyncdir(mounted: string): Promise<void> {
    return this.#access.syncDirectory(known(mounted));
  }

  release(handle: number): Promise<void> {
    this.#appending.delete(handle);
    return this.#files.release(handle);
  }

  async truncate(mounted: string, size: number): Promise<void> {
    const path = writable(mounted);
    this.#shown.forget(path);
    const open = this.#files.at(path);
    if (open !== undefined) {
      const { isDraft } = open;
      await open.truncate(size);
      // No program closes a file because of that: those that only read it may keep it open.
      return isDraft ? undefined : open.publish(false);
    }
    const handle = await this.#files.open(path);
    try {
      await this.#files.of(handle).file.truncate(size);
    } finally {
      await this.#files.release(handle);
    }
  }

  ftruncate(handle: number, size: number): Soon<void> {
    const opened = this.#files.of(handle);
    if (opened.file.path !== undefined) this.#shown.forget(opened.file.path);
    return opened.file.truncate(size, opened);
  }

  async chmod(mounted: string, mode: number): Promise<void> {
    const path = known(mounted);
    const open = this.#files.at(path);
    if (open?.isDraft) return open.setMode(mode & ~typeMask);
    if (open?.path === undefined && open !== undefined) return;
    await this.#access.setMode(path, mode & ~typeMask);
  }

  async utimens(mounted: string, atimeMs: number, mtimeMs: number): Promise<void> {
    const path = known(mounted);
    const open = this.#files.at(path);
    if (open?.isDraft) return open.setTimes(atimeMs, mtimeMs);
    if (open?.path === undefined && open !== undefined) return;
    await this.#access.setTimes(path, atimeMs, mtimeMs);
  }

  /** Owners are not replicated: everything belongs to the user of the mount. */
  async chown(mounted: string, uid: number, gid: number): Promise<void> {
    await this.#stat(known(mounted));
    const unchanged = 0xff_ff_ff_ff;
    const isOwn = (asked: number, own: number): boolean => asked === own || asked === unchanged || asked === -1;
    if (!isOwn(uid, this.#owner.uid) || !isOwn(gid, this.#owner.gid)) throw new MountError('EPERM');
  }

  async rename(from: string, to: string): Promise<void> {
    const [source, target] = [writable(from), writable(to)];
    for (const path of [source, target]) this.#shown.forget(path);
    if (hiddenName.test(nameOf(target)) && this.#files.at(source) !== undefined) return this.#hide(source, target);
    // If a program has the target open, the library has just hidden it.
    this.#access.stay(target);
    this.#checkUnused(target);
    // A draft below it would be published at a path that is no more.
    await this.#files.publish(source);
    await this.#access.rename(source, target);
    this.#files.detach(target, `${target}\0replaced`);
    this.#files.renamed(source, target);
  }

  unlink(mounted: string): Soon<void> {
    const path = writable(mounted);
    if (this.#files.forget(path)) return;
    return this.#remove(path, `${path}\0removed`);
  }

  /** Files with several names are not replicated as such. */
  link(): void {
    throw new MountError('EPERM');
  }

  statfs(): Promise<Room> {
    return this.#access.room();
  }

  /** The library's way to remove a file that a program has open, or to replace it: then the rename follows. */
  #hide(path: string, hidden: string): Soon<void> {
    return this.#remove(path, hidden, () => this.#access.removeSoon(path));
  }

  #remove(path: string, hidden: string, remove = () => this.#access.removeFile(path)): Soon<void> {
    const isNew = this.#files.at(path)?.isNew === true;
    return after(isNew ? undefined : remove(), () => this.#files.detach(path, hidden));
  }

  /** Throws ENOTEMPTY for a directory of open files. The library forgets their paths with it, and ends the process at the next request. */
  #checkUnused(path: string): void {
    if (this.#files.isOpenBelow(path)) throw new MountError('ENOTEMPTY', `Programs have files open in ${path}.`);
  }

  #stat(path: string): Soon<EntryStat> {
    const open = this.#files.stat(path);
    if (open !== undefined) return open;
    return after(this.#access.stat(path), (stat) => {
      const size = stat.kind === 'file' ? this.#files.sizeBeingRead(path) : undefined;
      return size === undefined ? stat : { ...stat, size };
    });
  }

  /** The answer to the kernel about an entry. */
  #show(path: string, stat: EntryStat): FuseStat {
    if (stat.kind === 'file') this.#shown.show(path, stat.size);
    return this.#fuseStat(this.#access.shown(stat));
  }

  #fuseStat({ kind, mode, size, mtimeMs, ctimeMs }: EntryStat): FuseStat {
    const mtime = wholeMs(mtimeMs);
    return {
      mode: typeBits[kind] | mode,
      ...this.#owner,
      size,
      nlink: kind === 'directory' ? 2 : 1,
      blocks: Math.ceil(size / 512),
      atime: mtime,
      mtime,
      ctime: wholeMs(ctimeMs),
    };
  }
}

/**
 * A time in milliseconds, as the library passes it on. A time that was set in whole ones may be some microseconds too small by now. The
 * library reads one before 1970 as unsigned, in the year 584,556,009: it is shown as the first moment of 1970.
 */
function wholeMs(timeMs: number): number {
  return Math.max(0, Math.floor(timeMs + 0.002));
}

/** The path in the folder of a path in the mount. The state directory is not there. */
function known(mounted: string): string {
  const path = mounted.replace(/^\/+/, '');
  if (path !== '' && path.split('/').some(isStateName)) throw new MountError('ENOENT');
  return path;
}

/** As `known`, for a path that is made or changed: it must be one that can be replicated. */
function writable(mounted: string): string {
  const path = mounted.replace(/^\/+/, '');
  if (path === '') throw new MountError('EBUSY');
  if (path.split('/').some(isStateName)) throw new MountError('EACCES');
  if (path.includes(replacementCharacter)) throw new MountError('EILSEQ', `${path} is not UTF-8.`);
  const fault = pathFault(path);
  if (fault !== undefined) throw new MountError(fault.includes('longer') ? 'ENAMETOOLONG' : 'EINVAL', fault);
  return path;
}
