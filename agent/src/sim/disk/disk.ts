import { nameOf } from '@lockstep/shared';
import { type Content, contentOfText } from './content.ts';
import { DiskError } from './disk-error.ts';
import { copyInode, Device, type Inode, type InodeNumbers, type InodeType } from './inode.ts';
import { MountedTree } from './mounted-tree.ts';
import { WriteCache } from './write-cache.ts';

/** File times advance in steps, as the kernel's do: two changes within one step have the same time. */
export const fileTimeStepMs = 4;

/** Receives what inotify reports to a watch on `directory`: the entry `name` changed, or the directory itself. */
export type DiskListener = (directory: Inode, name: string | undefined) => void;

/** The initial content of a new file, link or directory. */
type Birth = Pick<Inode, 'content' | 'target'>;

export interface DiskOptions {
  readonly wallMs: () => number;
  /** Its inodes have birth times, as on ext4 and xfs. */
  readonly keepsBirths?: boolean;
  /** See `WriteCache`. */
  readonly ordersNames?: boolean;
}

/** A copy of a file system at one moment. */
export interface DiskImage extends InodeNumbers {
  readonly top: Inode;
}

/**
 * An in-memory file system with POSIX rules, one per machine. Every method is one system call and atomic. A path is relative to the
 * member's folder; one that begins with a slash starts at `top`, the parent of the folder.
 */
export class Disk extends MountedTree {
  /** The directory that contains the folder, the agent's state, and what users move out of the folder. */
  readonly top: Inode;
  /** Changes that a power cut may undo. */
  readonly cache: WriteCache;
  readonly #wallMs: () => number;
  readonly #listeners = new Set<DiskListener>();
  /** The device of the folder and the agent's state. */
  readonly device = new Device(1);
  readonly #keepsBirths: boolean;
  #devices = 1;

  constructor({ wallMs, keepsBirths = true, ordersNames = true }: DiskOptions) {
    super();
    this.#wallMs = wallMs;
    this.#keepsBirths = keepsBirths;
    this.cache = new WriteCache(ordersNames, (directory, name, inode) => this.#assign(directory, name, inode));
    this.top = this.#born('directory', 0o755, {}, this.device);
    for (const name of ['folder', 'state', 'elsewhere']) this.mkdir(`/${name}`);
    this.cache.sync();
  }

  /** Calls `listener` at every change until the returned function is called. */
  listen(listener: DiskListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The time of a change made now. */
  timeMs(): number {
    return Math.floor(this.#wallMs() / fileTimeStepMs) * fileTimeStepMs;
  }

  /** A copy of everything. */
  image(): DiskImage {
    return { top: copyInode(this.top, new Map()), ...this.device.numbers() };
  }

  /** Restores a copy. It can be used again. */
  restore(image: DiskImage): void {
    const copies = new Map<Inode, Inode>();
    // An image is durable.
    this.cache.sync();
    for (const [name, child] of image.top.children ?? []) this.top.children?.set(name, copyInode(child, copies));
    this.device.restore(image);
  }

  /** The root of a new, empty file system. */
  newDevice(): Inode {
    this.#devices += 1;
    const root = this.#born('directory', 0o755, {}, new Device(this.#devices));
    root.links = 1;
    return root;
  }

  /** creat(2) of a file that does not exist. */
  create(path: string, mode: number): Inode {
    if (this.at(path) !== undefined) throw new DiskError('EEXIST', path);
    const made = this.#born('file', mode, { content: contentOfText('') }, this.parentAt(path).device);
    this.cache.making(made);
    return this.#name(path, made);
  }

  /** creat(2) and write(2) in place: an existing file keeps its inode. */
  write(path: string, content: Content, mode = 0o644): Inode {
    const inode = this.at(path) ?? this.create(path, mode);
    if (inode.type !== 'file') throw new DiskError('EISDIR', path);
    this.change(inode, content);
    this.notify(this.parentAt(path), nameOf(path));
    return inode;
  }

  /**
   * A store through a mapping, of content of the same size, which no watch reports. It updates the times of a clean file only: one with
   * unwritten bytes keeps its times.
   */
  store(path: string, content: Content): void {
    const inode = this.#fileAt(path);
    const { mtimeMs, ctimeMs } = inode;
    const isDirty = this.cache.isDirty(inode);
    this.change(inode, content);
    if (isDirty) Object.assign(inode, { mtimeMs, ctimeMs });
  }

  /** write(2) through a hard link outside the folder: no watch of the folder reports it. */
  writeElsewhere(path: string, content: Content): void {
    this.change(this.#fileAt(path), content);
  }

  mkdir(path: string, mode = 0o755): Inode {
    return this.#make('directory', path, mode, {});
  }

  symlink(path: string, target: string): Inode {
    return this.#make('symlink', path, 0o777, { target });
  }

  /** A pipe, which is never replicated. */
  mkfifo(path: string): Inode {
    return this.#make('special', path, 0o644, {});
  }

  /** link(2). */
  link(existing: string, path: string): void {
    const inode = this.inodeAt(existing);
    const parent = this.parentAt(path);
    if (inode.type === 'directory') throw new DiskError('EPERM', path);
    if (this.at(path) !== undefined) throw new DiskError('EEXIST', path);
    if (inode.device !== parent.device) throw new DiskError('EXDEV', path);
    inode.ctimeMs = this.timeMs();
    this.#name(path, inode);
  }

  /** rename(2). */
  rename(from: string, to: string): void {
    const inode = this.inodeAt(from);
    const [source, target] = [this.parentAt(from), this.parentAt(to)];
    if (to.startsWith(`${from}/`)) throw new DiskError('EINVAL', to);
    this.#checkMoves(from);
    if (source.device !== target.device) throw new DiskError('EXDEV', to);
    const existing = this.at(to);
    // Two names of one file: nothing is done.
    if (existing === inode) return;
    this.#checkReplace(to, inode, existing);
    this.cache.naming(
      { directory: target, name: nameOf(to), before: existing, after: inode },
      { directory: source, name: nameOf(from), before: inode, after: undefined },
    );
    this.#assign(target, nameOf(to), inode);
    this.#assign(source, nameOf(from), undefined);
    inode.ctimeMs = this.timeMs();
    this.#touch(source, nameOf(from));
    this.#touch(target, nameOf(to));
  }

  unlink(path: string): void {
    const inode = this.inodeAt(path);
    if (inode.type === 'directory') throw new DiskError('EISDIR', path);
    this.#remove(path, inode);
  }

  rmdir(path: string): void {
    const inode = this.inodeAt(path);
    if (inode.type !== 'directory') throw new DiskError('ENOTDIR', path);
    if (this.isMountPoint(path)) throw new DiskError('EBUSY', path);
    if (inode.children?.size !== 0) throw new DiskError('ENOTEMPTY', path);
    this.#remove(path, inode);
  }

  chmod(path: string, mode: number): void {
    this.setAttributes(this.inodeAt(path), { mode });
    this.#notifyEntry(path);
  }

  utimes(path: string, mtimeMs: number): void {
    this.setAttributes(this.inodeAt(path), { mtimeMs });
    this.#notifyEntry(path);
  }

  /** fchmod(2) and futimens(2). The caller notifies the watches. */
  setAttributes(inode: Inode, attributes: Partial<Pick<Inode, 'mode' | 'mtimeMs'>>): void {
    this.cache.changing(inode);
    Object.assign(inode, attributes, { ctimeMs: this.timeMs() });
    if (inode.type === 'directory') this.notify(inode, undefined);
  }

  /** write(2) to an open file. The caller notifies the watches. */
  change(inode: Inode, content: Content): void {
    this.cache.writing(inode);
    inode.content = content;
    inode.held.add(content.id);
    inode.mtimeMs = inode.ctimeMs = this.timeMs();
  }

  /** close(2) of a descriptor of an inode. */
  closed(inode: Inode): void {
    inode.opens -= 1;
    inode.device.freeUnused(inode);
  }

  notify(directory: Inode, name: string | undefined): void {
    for (const listener of this.#listeners) listener(directory, name);
  }

  #fileAt(path: string): Inode {
    const inode = this.inodeAt(path);
    if (inode.type !== 'file') throw new DiskError('EISDIR', path);
    return inode;
  }

  #notifyEntry(path: string): void {
    if (path !== '') this.notify(this.parentAt(path), nameOf(path));
  }

  /** A mount point, or a directory above one, cannot be renamed. On Linux only the first holds; another test renames mounts. */
  #checkMoves(path: string): void {
    if (!this.hasMounts) return;
    for (const [entry] of this.entries(path)) if (this.isMountPoint(entry)) throw new DiskError('EBUSY', entry);
  }

  #checkReplace(path: string, inode: Inode, existing: Inode | undefined): void {
    if (existing === undefined) return;
    if (this.isMountPoint(path)) throw new DiskError('EBUSY', path);
    if (inode.type === 'directory') {
      if (existing.type !== 'directory') throw new DiskError('ENOTDIR', path);
      if (existing.children?.size !== 0) throw new DiskError('ENOTEMPTY', path);
    } else if (existing.type === 'directory') throw new DiskError('EISDIR', path);
  }

  #make(type: InodeType, path: string, mode: number, birth: Birth): Inode {
    if (this.at(path) !== undefined) throw new DiskError('EEXIST', path);
    return this.#name(path, this.#born(type, mode, birth, this.parentAt(path).device));
  }

  /** Gives an inode a free name. */
  #name(path: string, inode: Inode): Inode {
    const [directory, name] = [this.parentAt(path), nameOf(path)];
    this.cache.naming({ directory, name, before: undefined, after: inode });
    this.#assign(directory, name, inode);
    this.#touch(directory, name);
    return inode;
  }

  #remove(path: string, inode: Inode): void {
    const [directory, name] = [this.parentAt(path), nameOf(path)];
    this.cache.naming({ directory, name, before: inode, after: undefined });
    inode.ctimeMs = this.timeMs();
    this.#assign(directory, name, undefined);
    this.#touch(directory, name);
  }

  #assign(directory: Inode, name: string, inode: Inode | undefined): void {
    const before = directory.children?.get(name);
    if (inode === undefined) directory.children?.delete(name);
    else {
      directory.children?.set(name, inode);
      inode.links += 1;
      // A power cut restored its name.
      inode.device.reclaim(inode);
    }
    if (before === undefined) return;
    before.links -= 1;
    before.device.freeUnused(before);
  }

  #touch(directory: Inode, name: string): void {
    directory.mtimeMs = directory.ctimeMs = this.timeMs();
    this.notify(directory, name);
  }

  #born(type: InodeType, mode: number, birth: Birth, device: Device): Inode {
    const { number, freed } = device.assign(this.cache.mayReuseNumbers);
    const timeMs = this.timeMs();
    const birthMs = this.#keepsBirths ? timeMs : undefined;
    // Created within one step of the file times: number and birth time are those of the freed inode.
    const held = new Set(freed?.birthMs === birthMs ? freed?.held : []);
    if (birth.content !== undefined) held.add(birth.content.id);
    const times = { birthMs, mtimeMs: timeMs, ctimeMs: timeMs };
    const common = { number, device, type, mode, ...times, links: 0, opens: 0, held, ...birth };
    return type === 'directory' ? { ...common, children: new Map() } : common;
  }
}
