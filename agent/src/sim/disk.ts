import { type ContentId, joinPath, nameOf, parentOf } from '@lockstep/shared';
import type { Fingerprint } from '../sync/ports/journal.ts';
import type { Content } from './content.ts';
import { WriteCache } from './write-cache.ts';

/** File times advance in steps, as the kernel's do: two changes within one step leave the same time. */
export const fileTimeStepMs = 4;

const typeBits = { file: 0o100_000, directory: 0o040_000, symlink: 0o120_000, special: 0o010_000 } as const;

export type InodeType = keyof typeof typeBits;

/** A file system: what gives out inode numbers. Nothing is renamed or linked from one to another. */
export class Device {
  /** Freed inode numbers are given out again at once, as ext4 does. */
  readonly freed: Pick<Inode, 'number' | 'birthMs' | 'held'>[] = [];
  lastNumber = 1;
}

/** A file, directory, symbolic link or pipe. */
export interface Inode {
  readonly number: number;
  readonly device: Device;
  readonly type: InodeType;
  /** Permission bits. */
  mode: number;
  /** Undefined on a disk that keeps no birth times. */
  readonly birthMs?: number | undefined;
  mtimeMs: number;
  ctimeMs: number;
  /** Names that refer to it, in the tree and in the agent's history. At 0 its number is free again. */
  links: number;
  /** Files. */
  content?: Content;
  /** Every content that it ever had: a row of `disk` that says otherwise was made for another inode. */
  readonly held: Set<ContentId>;
  /** Symbolic links. */
  target?: string;
  /** Directories. */
  readonly children?: Map<string, Inode>;
}

export type DiskErrorCode = 'ENOENT' | 'ENOTDIR' | 'EISDIR' | 'EEXIST' | 'ENOTEMPTY' | 'EINVAL' | 'EXDEV' | 'EBUSY';

/** What a system call answers when it cannot. */
export class DiskError extends Error {
  readonly code: DiskErrorCode;
  constructor(code: DiskErrorCode, path: string) {
    super(`${code}: ${path}`);
    this.name = 'DiskError';
    this.code = code;
  }
}

/** What inotify would tell a watch on `directory`: something happened to the entry `name`, or to the directory itself. */
export type DiskListener = (directory: Inode, name: string | undefined) => void;

/** What a new file, link or directory begins with. */
type Birth = Pick<Inode, 'content' | 'target'>;

/** An in-memory file system with POSIX rules, one per machine. Every method is one system call and atomic. */
export class Disk {
  readonly root: Inode;
  /** What a power cut may undo. */
  readonly cache = new WriteCache();
  readonly #wallMs: () => number;
  readonly #listeners = new Set<DiskListener>();
  /** Where the folder and the agent's state lie. */
  readonly device = new Device();
  /** The mounted root of each directory that is a mount point. */
  readonly #mounts = new Map<Inode, Inode>();
  readonly #keepsBirths: boolean;

  /** `keepsBirths`: its inodes have birth times, as those of ext4 and xfs have. */
  constructor(wallMs: () => number, keepsBirths = true) {
    this.#wallMs = wallMs;
    this.#keepsBirths = keepsBirths;
    this.root = this.#born('directory', 0o755, {});
    this.root.links = 1;
  }

  /** Hears of every change until the returned function is called. */
  listen(listener: DiskListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The time a change made now would carry. */
  timeMs(): number {
    return Math.floor(this.#wallMs() / fileTimeStepMs) * fileTimeStepMs;
  }

  /** Everything as it is now, and the inodes of `others`, which lie outside the tree. */
  image(others: ReadonlyMap<ContentId, Inode>): DiskImage {
    const copies = new Map<Inode, Inode>();
    const root = copyInode(this.root, copies);
    const outside = new Map([...others].map(([content, inode]) => [content, copyInode(inode, copies)]));
    return {
      root,
      outside,
      freed: this.device.freed.map((one) => ({ ...one, held: new Set(one.held) })),
      lastNumber: this.device.lastNumber,
    };
  }

  /** Makes everything as it was then, and returns the inodes that lay outside the tree. An image may be used again. */
  restore(image: DiskImage): ReadonlyMap<ContentId, Inode> {
    const copies = new Map<Inode, Inode>();
    const root = copyInode(image.root, copies);
    // What an image holds is durable.
    this.cache.sync();
    this.root.children?.clear();
    for (const [name, child] of root.children ?? []) this.root.children?.set(name, child);
    const { mode, mtimeMs, ctimeMs } = root;
    Object.assign(this.root, { mode, mtimeMs, ctimeMs });
    this.device.freed.splice(
      0,
      this.device.freed.length,
      ...image.freed.map((one) => ({ ...one, held: new Set(one.held) })),
    );
    this.device.lastNumber = image.lastNumber;
    return new Map([...image.outside].map(([content, inode]) => [content, copyInode(inode, copies)]));
  }

  /** What stands at `path`, links not followed. Undefined when nothing does, or when a parent is no directory. */
  at(path: string): Inode | undefined {
    let inode: Inode | undefined = this.root;
    if (path === '') return inode;
    for (const name of path.split('/')) inode = this.#top(inode?.children?.get(name));
    return inode;
  }

  /** The root of a new, empty file system. */
  newDevice(): Inode {
    const root = this.#born('directory', 0o755, {}, new Device());
    root.links = 1;
    return root;
  }

  /** mount(2): hides what is at `path`. No watch hears of it. */
  mount(path: string, root: Inode): void {
    const inode = this.at(path);
    if (inode?.type !== 'directory') throw new DiskError('ENOTDIR', path);
    this.#mounts.set(inode, root);
  }

  /** umount(2) of what was mounted last. */
  unmount(root: Inode): void {
    for (const [inode, mounted] of this.#mounts) if (mounted === root) this.#mounts.delete(inode);
  }

  /** True when something is mounted anywhere in the folder. */
  get hasMounts(): boolean {
    return this.#mounts.size > 0;
  }

  /** True when something is mounted at `path`. */
  isMountPoint(path: string): boolean {
    if (!this.hasMounts) return false;
    const child = path === '' ? undefined : this.at(parentOf(path))?.children?.get(nameOf(path));
    return child !== undefined && this.#mounts.has(child);
  }

  #top(inode: Inode | undefined): Inode | undefined {
    let top = inode;
    for (let next = top; next !== undefined; next = this.#mounts.get(next)) top = next;
    return top;
  }

  /** The directory that holds `path`. */
  parentAt(path: string): Inode {
    const parent = this.at(parentOf(path));
    if (parent === undefined) throw new DiskError('ENOENT', path);
    if (parent.type !== 'directory') throw new DiskError('ENOTDIR', path);
    return parent;
  }

  /** Every entry at and below `path` with its own path, parents first, names in order; the folder itself not included. */
  *entries(path = ''): Generator<readonly [path: string, inode: Inode]> {
    const inode = this.at(path);
    if (inode !== undefined) yield* entriesFrom(path, inode, (child) => this.#top(child));
  }

  /** A new file that has no name yet: what staging holds. */
  newFile(content: Content, mode: number): Inode {
    return this.#born('file', mode, { content });
  }

  newSymlink(target: string): Inode {
    return this.#born('symlink', 0o777, { target });
  }

  /** creat(2) and write(2) in place: the inode of an existing file stays. */
  write(path: string, content: Content, mode = 0o644): Inode {
    const parent = this.parentAt(path);
    const existing = this.at(path);
    if (existing === undefined) {
      const made = this.#born('file', mode, { content }, parent.device);
      this.cache.making(made);
      return this.place(path, made);
    }
    if (existing.type !== 'file') throw new DiskError('EISDIR', path);
    this.#change(existing, content);
    this.#tell(parent, nameOf(path));
    return existing;
  }

  /**
   * A store through a mapping, of content of the same size: no watch hears of it. It moves the times of a file whose bytes are on the disk,
   * and leaves those of one that has bytes in memory alone.
   */
  store(path: string, content: Content): void {
    const inode = this.#fileAt(path);
    const { mtimeMs, ctimeMs } = inode;
    const isDirty = this.cache.isDirty(inode);
    this.#change(inode, content);
    if (isDirty) Object.assign(inode, { mtimeMs, ctimeMs });
  }

  /** write(2) through a name of the file that lies outside the folder: no watch of the folder hears of it. */
  writeElsewhere(path: string, content: Content): void {
    this.#change(this.#fileAt(path), content);
  }

  mkdir(path: string, mode = 0o755): Inode {
    if (this.at(path) !== undefined) throw new DiskError('EEXIST', path);
    return this.place(path, this.#born('directory', mode, {}, this.parentAt(path).device));
  }

  symlink(path: string, target: string): Inode {
    if (this.at(path) !== undefined) throw new DiskError('EEXIST', path);
    return this.place(path, this.#born('symlink', 0o777, { target }, this.parentAt(path).device));
  }

  /** A pipe: something that is never replicated. */
  mkfifo(path: string): Inode {
    if (this.at(path) !== undefined) throw new DiskError('EEXIST', path);
    return this.place(path, this.#born('special', 0o644, {}, this.parentAt(path).device));
  }

  /** rename(2) of something from outside the tree (staging) to `path`: replaces what rename(2) would replace. */
  place(path: string, inode: Inode): Inode {
    const parent = this.parentAt(path);
    if (inode.device !== parent.device) throw new DiskError('EXDEV', path);
    this.#checkReplace(path, inode, this.at(path));
    this.#drop(parent.children?.get(nameOf(path)));
    this.cache.naming(parent, nameOf(path));
    parent.children?.set(nameOf(path), inode);
    this.#addLink(inode);
    inode.ctimeMs = this.timeMs();
    this.#touch(parent, nameOf(path));
    return inode;
  }

  /** rename(2). */
  rename(from: string, to: string): void {
    const inode = this.at(from);
    if (inode === undefined) throw new DiskError('ENOENT', from);
    if (from === to) return;
    if (to.startsWith(`${from}/`)) throw new DiskError('EINVAL', to);
    const [source, target] = [this.parentAt(from), this.parentAt(to)];
    this.#checkMoves(from);
    if (source.device !== target.device) throw new DiskError('EXDEV', to);
    this.#checkReplace(to, inode, this.at(to));
    this.#drop(target.children?.get(nameOf(to)));
    this.cache.renaming([source, nameOf(from)], [target, nameOf(to)]);
    source.children?.delete(nameOf(from));
    target.children?.set(nameOf(to), inode);
    inode.ctimeMs = this.timeMs();
    this.#touch(source, nameOf(from));
    this.#touch(target, nameOf(to));
  }

  /** rename(2) to somewhere outside the tree: what `place` may bring back. */
  take(path: string): Inode {
    const inode = this.at(path);
    if (inode === undefined) throw new DiskError('ENOENT', path);
    const parent = this.parentAt(path);
    this.#checkMoves(path);
    this.cache.naming(parent, nameOf(path));
    parent.children?.delete(nameOf(path));
    inode.links -= 1;
    this.cache.log(() => (inode.links += 1));
    inode.ctimeMs = this.timeMs();
    this.#touch(parent, nameOf(path));
    return inode;
  }

  unlink(path: string): void {
    const inode = this.at(path);
    if (inode === undefined) throw new DiskError('ENOENT', path);
    if (inode.type === 'directory') throw new DiskError('EISDIR', path);
    this.#remove(path, inode);
  }

  rmdir(path: string): void {
    const inode = this.at(path);
    if (inode === undefined) throw new DiskError('ENOENT', path);
    if (inode.type !== 'directory') throw new DiskError('ENOTDIR', path);
    if (this.isMountPoint(path)) throw new DiskError('EBUSY', path);
    if (inode.children?.size !== 0) throw new DiskError('ENOTEMPTY', path);
    this.#remove(path, inode);
  }

  chmod(path: string, mode: number): void {
    const inode = this.at(path);
    if (inode === undefined) throw new DiskError('ENOENT', path);
    this.cache.changing(inode);
    inode.mode = mode;
    this.#attributesChanged(path, inode);
  }

  utimes(path: string, mtimeMs: number): void {
    const inode = this.at(path);
    if (inode === undefined) throw new DiskError('ENOENT', path);
    this.cache.changing(inode);
    inode.mtimeMs = mtimeMs;
    this.#attributesChanged(path, inode);
  }

  /** link(2) to a name outside the tree. The inode's change time moves. */
  link(inode: Inode): Inode {
    this.#addLink(inode);
    inode.ctimeMs = this.timeMs();
    return inode;
  }

  /** unlink(2) of a name outside the tree. */
  release(inode: Inode): void {
    this.#drop(inode);
  }

  #fileAt(path: string): Inode {
    const inode = this.at(path);
    if (inode === undefined) throw new DiskError('ENOENT', path);
    if (inode.type !== 'file') throw new DiskError('EISDIR', path);
    return inode;
  }

  #change(inode: Inode, content: Content): void {
    this.cache.writing(inode);
    inode.content = content;
    inode.held.add(content.id);
    inode.mtimeMs = inode.ctimeMs = this.timeMs();
  }

  #attributesChanged(path: string, inode: Inode): void {
    inode.ctimeMs = this.timeMs();
    if (inode.type === 'directory') this.#tell(inode, undefined);
    if (path !== '') this.#tell(this.parentAt(path), nameOf(path));
  }

  /** A mount point, or what holds one, stays where it is. Only the first is so on Linux; a renamed mount is tried elsewhere. */
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

  #remove(path: string, inode: Inode): void {
    const parent = this.parentAt(path);
    this.cache.naming(parent, nameOf(path));
    parent.children?.delete(nameOf(path));
    this.#drop(inode);
    this.#touch(parent, nameOf(path));
  }

  #drop(inode: Inode | undefined): void {
    if (inode === undefined) return;
    inode.links -= 1;
    inode.ctimeMs = this.timeMs();
    if (inode.links === 0) inode.device.freed.push(inode);
    this.cache.log(() => {
      inode.links += 1;
      const free = inode.device.freed.indexOf(inode);
      if (free >= 0) inode.device.freed.splice(free, 1);
    });
  }

  #addLink(inode: Inode): void {
    inode.links += 1;
    this.cache.log(() => {
      inode.links -= 1;
      if (inode.links === 0) inode.device.freed.push(inode);
    });
  }

  #touch(directory: Inode, name: string): void {
    directory.mtimeMs = directory.ctimeMs = this.timeMs();
    this.#tell(directory, name);
  }

  #tell(directory: Inode, name: string | undefined): void {
    for (const listener of this.#listeners) listener(directory, name);
  }

  #born(type: InodeType, mode: number, birth: Birth, device = this.device): Inode {
    const freed = device.freed.pop();
    const number = freed?.number ?? ++device.lastNumber;
    const timeMs = this.timeMs();
    const birthMs = this.#keepsBirths ? timeMs : undefined;
    // Born within one step of the file times: by number and birth time this is the inode that was freed.
    const held = new Set(freed?.birthMs === birthMs ? freed?.held : []);
    if (birth.content !== undefined) held.add(birth.content.id);
    const common = { number, device, type, mode, birthMs, mtimeMs: timeMs, ctimeMs: timeMs, links: 0, held, ...birth };
    return type === 'directory' ? { ...common, children: new Map() } : common;
  }
}

/** A file system as it was at one moment. */
export interface DiskImage {
  readonly root: Inode;
  readonly outside: ReadonlyMap<ContentId, Inode>;
  readonly freed: readonly Pick<Inode, 'number' | 'birthMs' | 'held'>[];
  readonly lastNumber: number;
}

/** A copy of an inode and all below it; what has several names stays one inode. */
function copyInode(inode: Inode, copies: Map<Inode, Inode>): Inode {
  const known = copies.get(inode);
  if (known !== undefined) return known;
  const { children } = inode;
  const copy: Inode = { ...inode, held: new Set(inode.held), ...(children && { children: new Map() }) };
  copies.set(inode, copy);
  for (const [name, child] of children ?? []) copy.children?.set(name, copyInode(child, copies));
  return copy;
}

function* entriesFrom(
  path: string,
  inode: Inode,
  top: (inode: Inode | undefined) => Inode | undefined,
): Generator<readonly [path: string, inode: Inode]> {
  if (path !== '') yield [path, inode];
  for (const name of [...(inode.children?.keys() ?? [])].sort()) {
    const child = top(inode.children?.get(name));
    if (child !== undefined) yield* entriesFrom(joinPath(path, name), child, top);
  }
}

/** What stat(2) says of an inode. */
export function fingerprintOf(inode: Inode): Fingerprint {
  return {
    ino: inode.number,
    size: sizeOf(inode),
    mtimeMs: inode.mtimeMs,
    ctimeMs: inode.ctimeMs,
    mode: typeBits[inode.type] | inode.mode,
    birthMs: inode.birthMs,
  };
}

/** The modification time in whole microseconds, rounded down. */
export function mtimeUsOf({ mtimeMs }: Inode): number {
  return Math.floor(mtimeMs * 1000);
}

export function sameFingerprint(a: Fingerprint, b: Fingerprint): boolean {
  return sameButChangeTime(a, b) && a.ctimeMs === b.ctimeMs;
}

export function sameButChangeTime(a: Fingerprint, b: Fingerprint): boolean {
  return a.ino === b.ino && a.size === b.size && a.mtimeMs === b.mtimeMs && a.mode === b.mode;
}

function sizeOf(inode: Inode): number {
  if (inode.type === 'file') return inode.content?.size ?? 0;
  if (inode.type === 'symlink') return Buffer.byteLength(inode.target ?? '');
  return inode.type === 'directory' ? 4096 : 0;
}
