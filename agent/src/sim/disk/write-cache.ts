import type { Random } from '../base/random.ts';
import { type Content, contentOfBytes, contentOfText } from './content.ts';
import type { Inode } from './inode.ts';

/** What of a file is on the disk while the newest bytes of it are in memory alone. */
interface Stored {
  /** Undefined where it is a new file. */
  readonly content: Content | undefined;
  readonly mtimeMs: number;
}

/** What became of the bytes of one file in a power cut. */
export interface Torn {
  readonly before: Content;
  readonly now: Content;
}

/** One name of a directory stands for something else than before. */
export interface NameChange {
  readonly directory: Inode;
  readonly name: string;
  readonly before: Inode | undefined;
  readonly after: Inode | undefined;
}

/** One call that changed names, all of them or none, or the attributes of one inode. */
type Change =
  | { readonly names: readonly NameChange[] }
  | { readonly inode: Inode; readonly before: Pick<Inode, 'mode' | 'mtimeMs' | 'ctimeMs'> };

/** Makes a name stand for an inode, or for nothing. */
type Assign = (directory: Inode, name: string, inode: Inode | undefined) => void;

/**
 * What a kernel keeps in memory: names, in the order in which they were given, and bytes that no sync has written. A power cut undoes the
 * newest names, and each file for itself keeps its bytes, its old ones, or none, as ext4 with delayed allocation does.
 */
export class WriteCache {
  /** What was done to names and attributes and is not on the disk, oldest first. */
  #changes: Change[] = [];
  readonly #dirty = new Map<Inode, Stored>();
  readonly #ordersNames: boolean;
  readonly #assign: Assign;
  /** How often the power was cut. */
  cuts = 0;

  /**
   * `ordersNames`: whatever is synced, all names given before are on the disk with it, as with ext4 and xfs. Otherwise the sync of a directory
   * writes its own names alone, and those that lead to it.
   */
  constructor(ordersNames: boolean, assign: Assign) {
    this.#ordersNames = ordersNames;
    this.#assign = assign;
  }

  /** True when no name and no attribute is in memory alone. */
  get isCommitted(): boolean {
    return this.#changes.length === 0;
  }

  /** True when an inode number may be given out again although its last name may come back. */
  get mayReuseNumbers(): boolean {
    return this.#ordersNames || this.isCommitted;
  }

  /** One call gave names or took them. */
  naming(...names: readonly NameChange[]): void {
    this.#changes.push({ names });
  }

  /** Mode or time are about to change. */
  changing(inode: Inode): void {
    const { mode, mtimeMs, ctimeMs } = inode;
    this.#changes.push({ inode, before: { mode, mtimeMs, ctimeMs } });
  }

  /** A new file was made. */
  making(inode: Inode): void {
    this.#dirty.set(inode, { content: undefined, mtimeMs: inode.mtimeMs });
  }

  /** The content of a file is about to change. */
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

  /** True while bytes of the file are in memory alone: a further store into its mapping leaves no trace. */
  isDirty(inode: Inode): boolean {
    return this.#dirty.has(inode);
  }

  /** Calls `look` while every name is what the worst power cut would leave. Nothing may be changed meanwhile. */
  asOnDisk<T>(look: () => T): T {
    const names = this.#changes.flatMap((change) => ('names' in change ? change.names : []));
    for (const { directory, name, before } of names.toReversed()) set(directory, name, before);
    const seen = look();
    for (const { directory, name, after } of names) set(directory, name, after);
    return seen;
  }

  /** `mayBeZeros`: the bytes that an agent has seen may be found as zeros. */
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

  /** What was done in a directory, or to one inode, is on the disk, and before it all that was done to the same names. */
  #commit(synced: Inode): void {
    const reached = new Set([synced]);
    const left: Change[] = [];
    for (const change of this.#changes.toReversed()) {
      const touched = 'names' in change ? change.names.map(({ directory }) => directory) : [change.inode];
      // A directory is reached by its name, and by those of all above it: every file system sees to that.
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
