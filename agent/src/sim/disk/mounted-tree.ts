import { joinPath, nameOf, parentOf } from '@lockstep/shared';
import { DiskError } from './disk-error.ts';
import type { Inode } from './inode.ts';

/**
 * Directories with entries, and the file systems that are mounted over some of them: finds the entry at a path. A path is relative to the
 * member's folder; one that begins with a slash starts at `top`, the parent of the folder.
 */
export abstract class MountedTree {
  /** The directory that contains the folder. */
  abstract readonly top: Inode;
  /** The mounted root of each directory that is a mount point. */
  readonly #mounts = new Map<Inode, Inode>();

  /** The member's folder. */
  get root(): Inode {
    const root = this.top.children?.get('folder');
    if (root === undefined) throw new Error('a disk has a folder');
    return root;
  }

  /** The entry at `path`; links are not followed. Undefined if there is none, or a parent is not a directory. */
  at(path: string): Inode | undefined {
    let inode: Inode | undefined = path.startsWith('/') ? this.top : this.root;
    // Without an array of the names: this is called several times for each system call.
    for (let begin = 0; begin < path.length && inode !== undefined; ) {
      const slash = path.indexOf('/', begin);
      const end = slash < 0 ? path.length : slash;
      if (end > begin) inode = this.childOf(inode, path.slice(begin, end));
      begin = end + 1;
    }
    return inode;
  }

  /** The entry with this name in a directory, or the root that is mounted over it. */
  childOf(directory: Inode | undefined, name: string): Inode | undefined {
    return this.#top(directory?.children?.get(name));
  }

  /** mount(2): hides the entry at `path`. No watch reports it. */
  mount(path: string, root: Inode): void {
    const inode = this.at(path);
    if (inode?.type !== 'directory') throw new DiskError('ENOTDIR', path);
    this.#mounts.set(inode, root);
  }

  /** umount(2). */
  unmount(root: Inode): void {
    for (const [inode, mounted] of this.#mounts) if (mounted === root) this.#mounts.delete(inode);
  }

  /** True if a file system is mounted anywhere in the folder. */
  get hasMounts(): boolean {
    return this.#mounts.size > 0;
  }

  /** True if a file system is mounted at `path`. */
  isMountPoint(path: string): boolean {
    if (!this.hasMounts) return false;
    const child = path === '' ? undefined : this.at(parentOf(path))?.children?.get(nameOf(path));
    return child !== undefined && this.#mounts.has(child);
  }

  /** The root mounted over a directory, or the directory itself. */
  #top(inode: Inode | undefined): Inode | undefined {
    if (this.#mounts.size === 0) return inode;
    let top = inode;
    for (let next = top; next !== undefined; next = this.#mounts.get(next)) top = next;
    return top;
  }

  /** The directory that contains `path`. */
  parentAt(path: string): Inode {
    const above = parentOf(path);
    const parent = path.startsWith('/') && above === '' ? this.top : this.at(above);
    if (parent === undefined) throw new DiskError('ENOENT', path);
    if (parent.type !== 'directory') throw new DiskError('ENOTDIR', path);
    return parent;
  }

  /** The entry at `path`. Throws ENOENT, or ENOTDIR below an entry that is not a directory. */
  inodeAt(path: string): Inode {
    const inode = this.at(path);
    if (inode !== undefined) return inode;
    this.parentAt(path);
    throw new DiskError('ENOENT', path);
  }

  /** Every entry at and below `path` with its own path, parents first, names sorted, without the folder itself. */
  *entries(path = ''): Generator<readonly [path: string, inode: Inode]> {
    const inode = this.at(path);
    if (inode !== undefined) yield* this.#entriesFrom(path, inode);
  }

  *#entriesFrom(path: string, inode: Inode): Generator<readonly [path: string, inode: Inode]> {
    if (path !== '') yield [path, inode];
    if (inode.children === undefined) return;
    for (const name of [...inode.children.keys()].sort()) {
      const child = this.#top(inode.children.get(name));
      if (child !== undefined) yield* this.#entriesFrom(joinPath(path, name), child);
    }
  }
}
