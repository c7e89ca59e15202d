import { type Content, contentOfBytes, contentOfText } from './content.ts';
import type { Inode } from './disk.ts';
import type { Random } from './random.ts';

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

/**
 * What a kernel keeps in memory: names, in the order in which they were given, and bytes that no sync has written. A power cut undoes the
 * newest names, and each file for itself keeps its bytes, its old ones, or none, as ext4 with delayed allocation does.
 */
export class WriteCache {
  /** How to undo what was done to names and attributes since the last commit, oldest first. */
  readonly #undo: (() => void)[] = [];
  readonly #dirty = new Map<Inode, Stored>();
  /** Files that were made since the last commit. */
  readonly #fresh = new Set<Inode>();
  /** How often the power was cut. */
  cuts = 0;

  log(undo: () => void): void {
    this.#undo.push(undo);
  }

  /** A file without a name was made by a user. */
  making(inode: Inode): void {
    this.#dirty.set(inode, { content: undefined, mtimeMs: inode.mtimeMs });
    this.#fresh.add(inode);
  }

  /** The content of a file is about to change. */
  writing(inode: Inode): void {
    if (!this.#dirty.has(inode)) this.#dirty.set(inode, { content: inode.content, mtimeMs: inode.mtimeMs });
  }

  /** What `name` stands for in a directory is about to change. */
  naming(directory: Inode, name: string): void {
    this.log(backTo(directory, name));
  }

  /** Two names are about to change by one rename(2), which a file system with a journal does whole or not at all. */
  renaming(from: readonly [directory: Inode, name: string], to: readonly [directory: Inode, name: string]): void {
    const [source, target] = [backTo(...from), backTo(...to)];
    this.log(() => {
      target();
      source();
    });
  }

  /** Mode or time are about to change. */
  changing(inode: Inode): void {
    const { mode, mtimeMs, ctimeMs } = inode;
    this.log(() => Object.assign(inode, { mode, mtimeMs, ctimeMs }));
  }

  /** An fsync of anything: the file system commits all names, and no bytes of other files. */
  commit(): void {
    this.#undo.length = 0;
    this.#fresh.clear();
  }

  /** syncfs(2). */
  sync(): void {
    this.commit();
    this.#dirty.clear();
  }

  /** True when a power cut leaves the bytes of this file, under the name it has now or the one it had before. */
  isDurable(inode: Inode): boolean {
    return !this.#dirty.has(inode) && !this.#fresh.has(inode);
  }

  /** True while bytes of the file are in memory alone: a further store into its mapping leaves no trace. */
  isDirty(inode: Inode): boolean {
    return this.#dirty.has(inode);
  }

  /** `mayBeZeros`: the bytes that an agent has seen may be found as zeros. */
  powerCut(random: Random, mayBeZeros: (inode: Inode) => boolean): readonly Torn[] {
    const kept = random.chance(0.5) ? this.#undo.length : random.below(this.#undo.length + 1);
    for (const undo of this.#undo.splice(kept).reverse()) undo();
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
}

/** How to make a name stand for what it stands for now. */
function backTo({ children }: Inode, name: string): () => void {
  const now = children?.get(name);
  return () => {
    if (now === undefined) children?.delete(name);
    else children?.set(name, now);
  };
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
