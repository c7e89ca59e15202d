import { joinPath, nameOf, parentOf } from '@lockstep/shared';
import type { Fingerprint } from '../sync/ports/journal.ts';
import type { Content } from './content.ts';

/** File times advance in steps, as the kernel's do: two changes within one step leave the same time. */
export const fileTimeStepMs = 4;

const typeBits = { file: 0o100_000, directory: 0o040_000, symlink: 0o120_000, special: 0o010_000 } as const;

export type InodeType = keyof typeof typeBits;

/** A file, directory, symbolic link or pipe. */
export interface Inode {
  readonly number: number;
  readonly type: InodeType;
  /** Permission bits. */
  mode: number;
  mtimeMs: number;
  ctimeMs: number;
  /** Names that refer to it, in the tree and in the agent's history. At 0 its number is free again. */
  links: number;
  /** Files. */
  content?: Content;
  /** Symbolic links. */
  target?: string;
  /** Directories. */
  readonly children?: Map<string, Inode>;
}

export type DiskErrorCode = 'ENOENT' | 'ENOTDIR' | 'EISDIR' | 'EEXIST' | 'ENOTEMPTY' | 'EINVAL';

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
  readonly #wallMs: () => number;
  readonly #listeners = new Set<DiskListener>();
  /** Freed inode numbers are given out again at once, as ext4 does. */
  readonly #freeNumbers: number[] = [];
  #lastNumber = 1;

  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
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

  /** What stands at `path`, links not followed. Undefined when nothing does, or when a parent is no directory. */
  at(path: string): Inode | undefined {
    let inode: Inode | undefined = this.root;
    if (path === '') return inode;
    for (const name of path.split('/')) inode = inode?.children?.get(name);
    return inode;
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
    if (inode !== undefined) yield* entriesFrom(path, inode);
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
    if (existing === undefined) return this.place(path, this.newFile(content, mode));
    if (existing.type !== 'file') throw new DiskError('EISDIR', path);
    existing.content = content;
    existing.mtimeMs = existing.ctimeMs = this.timeMs();
    this.#tell(parent, nameOf(path));
    return existing;
  }

  mkdir(path: string, mode = 0o755): Inode {
    if (this.at(path) !== undefined) throw new DiskError('EEXIST', path);
    return this.place(path, this.#born('directory', mode, {}));
  }

  symlink(path: string, target: string): Inode {
    if (this.at(path) !== undefined) throw new DiskError('EEXIST', path);
    return this.place(path, this.newSymlink(target));
  }

  /** A pipe: something that is never replicated. */
  mkfifo(path: string): Inode {
    if (this.at(path) !== undefined) throw new DiskError('EEXIST', path);
    return this.place(path, this.#born('special', 0o644, {}));
  }

  /** rename(2) of something from outside the tree (staging) to `path`: replaces what rename(2) would replace. */
  place(path: string, inode: Inode): Inode {
    const parent = this.parentAt(path);
    this.#checkReplace(path, inode, this.at(path));
    this.#drop(parent.children?.get(nameOf(path)));
    parent.children?.set(nameOf(path), inode);
    inode.links += 1;
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
    this.#checkReplace(to, inode, this.at(to));
    this.#drop(target.children?.get(nameOf(to)));
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
    parent.children?.delete(nameOf(path));
    inode.links -= 1;
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
    if (inode.children?.size !== 0) throw new DiskError('ENOTEMPTY', path);
    this.#remove(path, inode);
  }

  chmod(path: string, mode: number): void {
    const inode = this.at(path);
    if (inode === undefined) throw new DiskError('ENOENT', path);
    inode.mode = mode;
    this.#attributesChanged(path, inode);
  }

  utimes(path: string, mtimeMs: number): void {
    const inode = this.at(path);
    if (inode === undefined) throw new DiskError('ENOENT', path);
    inode.mtimeMs = mtimeMs;
    this.#attributesChanged(path, inode);
  }

  /** link(2) to a name outside the tree. The inode's change time moves. */
  link(inode: Inode): Inode {
    inode.links += 1;
    inode.ctimeMs = this.timeMs();
    return inode;
  }

  /** unlink(2) of a name outside the tree. */
  release(inode: Inode): void {
    this.#drop(inode);
  }

  #attributesChanged(path: string, inode: Inode): void {
    inode.ctimeMs = this.timeMs();
    if (inode.type === 'directory') this.#tell(inode, undefined);
    if (path !== '') this.#tell(this.parentAt(path), nameOf(path));
  }

  #checkReplace(path: string, inode: Inode, existing: Inode | undefined): void {
    if (existing === undefined) return;
    if (inode.type === 'directory') {
      if (existing.type !== 'directory') throw new DiskError('ENOTDIR', path);
      if (existing.children?.size !== 0) throw new DiskError('ENOTEMPTY', path);
    } else if (existing.type === 'directory') throw new DiskError('EISDIR', path);
  }

  #remove(path: string, inode: Inode): void {
    const parent = this.parentAt(path);
    parent.children?.delete(nameOf(path));
    this.#drop(inode);
    this.#touch(parent, nameOf(path));
  }

  #drop(inode: Inode | undefined): void {
    if (inode === undefined) return;
    inode.links -= 1;
    inode.ctimeMs = this.timeMs();
    if (inode.links === 0) this.#freeNumbers.push(inode.number);
  }

  #touch(directory: Inode, name: string): void {
    directory.mtimeMs = directory.ctimeMs = this.timeMs();
    this.#tell(directory, name);
  }

  #tell(directory: Inode, name: string | undefined): void {
    for (const listener of this.#listeners) listener(directory, name);
  }

  #born(type: InodeType, mode: number, birth: Birth): Inode {
    const number = this.#freeNumbers.pop() ?? ++this.#lastNumber;
    const timeMs = this.timeMs();
    const common = { number, type, mode, mtimeMs: timeMs, ctimeMs: timeMs, links: 0, ...birth };
    return type === 'directory' ? { ...common, children: new Map() } : common;
  }
}

function* entriesFrom(path: string, inode: Inode): Generator<readonly [path: string, inode: Inode]> {
  if (path !== '') yield [path, inode];
  for (const name of [...(inode.children?.keys() ?? [])].sort()) {
    const child = inode.children?.get(name);
    if (child !== undefined) yield* entriesFrom(joinPath(path, name), child);
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
