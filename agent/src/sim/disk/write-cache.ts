import type { Random } from '../base/random.ts';
import { type Content, contentOfBytes, contentOfText } from './content.ts';
import type { Inode } from './inode.ts';

/** The durable state of a file whose newest bytes are only in memory. */
interface Stored {
  /** Undefined for a new file. */
  readonly content: Content | undefined;
  readonly mtimeMs: number;
}

/** The effect of a power cut on the bytes of one file. */
export interface Torn {
  readonly before: Content;
  readonly now: Content;
}

/** A name of a directory that now refers to another inode. */
export interface NameChange {
  readonly directory: Inode;
  readonly name: string;
  readonly before: Inode | undefined;
  readonly after: Inode | undefined;
}

/** A call that changed names, atomically, or the attributes of one inode. */
type Change =
  | { readonly names: readonly NameChange[] }
  | { readonly inode: Inode; readonly before: Pick<Inode, 'mode' | 'mtimeMs' | 'ctimeMs'> };

/** Makes a name refer to an inode, or frees it. */
type Assign = (directory: Inode, name: string, inode: Inode | undefined) => void;

/**
 * The kernel's memory: name changes in their order, and bytes that no sync has written. A power cut undoes the newest name changes. Each
 * file independently keeps its new bytes or half of them, or has its old ones, zeros or none, as on ext4 with delayed allocation.
 */
export class WriteCache {
  /** Changes of names and attributes that are not on the disk, oldest first. */
  #changes: Change[] = [];
  readonly #dirty = new Map<Inode, Stored>();
  readonly #ordersNames: boolean;
  readonly #assign: Assign;
  /** The number of power cuts. */
  cuts = 0;

  /**
   * `ordersNames`: a sync of any inode also writes all earlier names, as on ext4 and xfs. Otherwise the sync of a directory writes only its
   * own names and those that lead to it.
   */
  constructor(ordersNames: boolean, assign: Assign) {
    this.#ordersNames = ordersNames;
    this.#assign = assign;
  }

  /** True if all names and attributes are on the disk. */
  get isCommitted(): boolean {
    return this.#changes.length === 0;
  }

  /** True if an inode number may be reused although its last name may come back. */
  get mayReuseNumbers(): boolean {
    return this.#ordersNames || this.isCommitted;
  }

  /** Records the name changes of one call. */
  naming(...names: readonly NameChange[]): void {
    this.#changes.push({ names });
  }

  /** Call before mode or time of an inode change. */
  changing(inode: Inode): void {
    const { mode, mtimeMs, ctimeMs } = inode;
    this.#changes.push({ inode, before: { mode, mtimeMs, ctimeMs } });
  }

  /** Records a new file. */
  making(inode: Inode): void {
    this.#dirty.set(inode, { content: undefined, mtimeMs: inode.mtimeMs });
  }

  /** Call before the content of a file changes. */
  writing(inode: Inode): void {
    if (!this.#dirty.has(inode)) this.#dirty.set(inode, { content: inode.content, mtimeMs: inode.mtimeMs });
  }

  /** fsync(2) of a file or directory. */
  syncInode(inode: Inode): void {
    this.#dirty.delete(inode);
    if (this.#ordersNames) this.#changes = [];
    else this.#commit(inode);
  }

  /** syncfs(2). */
  sync(): void {
    this.#changes = [];
    this.#dirty.clear();
  }

  /** True while bytes of the file are only in memory: a further store into its mapping leaves no trace. */
  isDirty(inode: Inode): boolean {
    return this.#dirty.has(inode);
  }

  /** True while bytes of the file are only in memory, and the disk has the same. */
  isOnlyRewritten(inode: Inode): boolean {
    const stored = this.#dirty.get(inode);
    return stored?.content !== undefined && stored.content.id === inode.content?.id;
  }

  /** Calls `read` with all names as the worst power cut would leave them. Nothing may change meanwhile. */
  asOnDisk<T>(read: () => T): T {
    const names = this.#changes.flatMap((change) => ('names' in change ? change.names : []));
    for (const { directory, name, before } of names.toReversed()) set(directory, name, before);
    const seen = read();
    for (const { directory, name, after } of names) set(directory, name, after);
    return seen;
  }

  /** `mayBeZeros`: true if zeros may replace the file's bytes, because an agent has seen them. */
  powerCut(random: Random, mayBeZeros: (inode: Inode) => boolean): readonly Torn[] {
    const kept = random.chance(0.5) ? this.#changes.length : random.below(this.#changes.length + 1);
    for (const change of this.#changes.splice(kept).reverse()) this.#undo(change);
    const torn: Torn[] = [];
    for (const [inode, stored] of this.#dirty) {
      const before = inode.content;
      if (before === undefined || random.chance(0.3)) continue;
      const now = leftOf(before, stored, random, mayBeZeros(inode));
      inode.content = now;
      inode.held.add(now.id);
      if (now.id === stored.content?.id) inode.mtimeMs = stored.mtimeMs;
      torn.push({ before, now });
    }
    this.sync();
    this.cuts += 1;
    return torn;
  }

  /** Commits the changes in a directory, or of one inode, and all earlier changes of the same names. */
  #commit(synced: Inode): void {
    const reached = new Set([synced]);
    const left: Change[] = [];
    for (const change of this.#changes.toReversed()) {
      const touched = 'names' in change ? change.names.map(({ directory }) => directory) : [change.inode];
      // A directory is reached by its name and those of all its parents: every file system syncs these too.
      const named = 'names' in change ? change.names.map(({ after }) => after) : [];
      if ([...touched, ...named].some((inode) => inode !== undefined && reached.has(inode))) {
        for (const inode of touched) reached.add(inode);
      } else left.push(change);
    }
    this.#changes = left.reverse();
  }

  #undo(change: Change): void {
    if (!('names' in change)) {
      Object.assign(change.inode, change.before);
      return;
    }
    for (const { directory, name, before } of change.names.toReversed()) this.#assign(directory, name, before);
  }
}

function set({ children }: Inode, name: string, inode: Inode | undefined): void {
  if (inode === undefined) children?.delete(name);
  else children?.set(name, inode);
}

function leftOf(content: Content, stored: Stored, random: Random, mayBeZeros: boolean): Content {
  const old = stored.content ?? contentOfText('');
  const [first] = content.parts;
  const isWhole = content.parts.length === 1 && first !== undefined && first.length === content.size;
  switch (random.pick(['none', 'none', 'old', 'zeros', 'half'])) {
    case 'old':
      return old;
    case 'zeros':
      return isWhole && mayBeZeros ? contentOfBytes(new Uint8Array(content.size)) : old;
    case 'half':
      return isWhole && content.size > 1 ? contentOfBytes(first.slice(0, content.size >> 1)) : old;
    default:
      return contentOfText('');
  }
}
