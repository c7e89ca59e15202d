import type { ContentId } from '@lockstep/shared';
import type { Fingerprint } from '../../core/entry.ts';
import type { EntryStats } from '../../fs/system-calls.ts';
import type { Content } from './content.ts';

const typeBits = { file: 0o100_000, directory: 0o040_000, symlink: 0o120_000, special: 0o010_000 } as const;

const blockSizeBytes = 4_096;
/** The unit of `st_blocks`. */
const statBlockBytes = 512;

export type InodeType = keyof typeof typeBits;

/** The user of all processes. */
export const userNumber = 1_000;

/** The record of an inode that has no name any more. */
type Freed = Pick<Inode, 'number' | 'birthMs' | 'held'>;

/** The numbers that a file system has assigned, at one moment. */
export interface InodeNumbers {
  readonly freed: readonly Freed[];
  readonly lastNumber: number;
}

/** A file system, which assigns inode numbers. No rename or link crosses file systems. */
export class Device {
  readonly number: number;
  /** Freed inode numbers are reused at once, as on ext4. */
  #freed: Freed[] = [];
  lastNumber = 1;

  constructor(number: number) {
    this.number = number;
  }

  /** A number for a new inode, and the freed inode that had it before; `mayReuse` permits a freed one. */
  assign(mayReuse: boolean): { readonly number: number; readonly freed: Freed | undefined } {
    const freed = mayReuse ? this.#freed.pop() : undefined;
    return { number: freed?.number ?? ++this.lastNumber, freed };
  }

  /** Frees an inode if it has no name and is not open. */
  freeUnused(inode: Inode): void {
    if (inode.links > 0 || inode.opens > 0) return;
    this.#freed.push(inode);
  }

  /** Takes back an inode that was freed: it has a name again. */
  reclaim({ number }: Inode): void {
    const free = this.#freed.findIndex((freed) => freed.number === number);
    if (free >= 0) this.#freed.splice(free, 1);
  }

  /** A copy of its numbers. */
  numbers(): InodeNumbers {
    return { freed: copyOf(this.#freed), lastNumber: this.lastNumber };
  }

  /** Restores a copy. It can be used again. */
  restore({ freed, lastNumber }: InodeNumbers): void {
    this.#freed = copyOf(freed);
    this.lastNumber = lastNumber;
  }
}

function copyOf(freed: readonly Freed[]): Freed[] {
  return freed.map((one) => ({ ...one, held: new Set(one.held) }));
}

/** A file, directory, symbolic link or pipe. */
export interface Inode {
  readonly number: number;
  readonly device: Device;
  readonly type: InodeType;
  /** Permission bits. */
  mode: number;
  /** Undefined on a disk without birth times. */
  readonly birthMs?: number | undefined;
  mtimeMs: number;
  ctimeMs: number;
  /** The number of its names, anywhere on the disk. */
  links: number;
  /** Open descriptors. Without names and descriptors its number is free. */
  opens: number;
  /** Files. */
  content?: Content;
  /** All contents that it ever had: a row of `disk` with another one belongs to another inode. */
  readonly held: Set<ContentId>;
  /** Symbolic links. */
  target?: string;
  /** Directories. */
  readonly children?: Map<string, Inode>;
}

/** A copy of an inode and everything below it. Hard links stay one inode. */
export function copyInode(inode: Inode, copies: Map<Inode, Inode>): Inode {
  const known = copies.get(inode);
  if (known !== undefined) return known;
  const { children } = inode;
  const copy: Inode = { ...inode, opens: 0, held: new Set(inode.held), ...(children && { children: new Map() }) };
  copies.set(inode, copy);
  for (const [name, child] of children ?? []) copy.children?.set(name, copyInode(child, copies));
  return copy;
}

/** The fingerprint of an inode, as in the agent's rows. */
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

export function sameFingerprint(a: Fingerprint, b: Fingerprint): boolean {
  return (
    a.ino === b.ino && a.size === b.size && a.mtimeMs === b.mtimeMs && a.mode === b.mode && a.ctimeMs === b.ctimeMs
  );
}

/** The stats of an inode from stat(2). */
export class InodeStats implements EntryStats {
  readonly dev: number;
  readonly ino: number;
  readonly mode: number;
  readonly nlink: number;
  readonly uid = userNumber;
  readonly size: number;
  readonly blocks: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly birthtimeMs: number;
  readonly #type: InodeType;

  constructor(inode: Inode) {
    this.dev = inode.device.number;
    this.ino = inode.number;
    this.mode = typeBits[inode.type] | inode.mode;
    this.nlink = inode.links;
    this.size = sizeOf(inode);
    this.blocks = Math.ceil(this.size / blockSizeBytes) * (blockSizeBytes / statBlockBytes);
    this.mtimeMs = inode.mtimeMs;
    this.ctimeMs = inode.ctimeMs;
    this.birthtimeMs = inode.birthMs ?? 0;
    this.#type = inode.type;
  }

  isFile(): boolean {
    return this.#type === 'file';
  }

  isDirectory(): boolean {
    return this.#type === 'directory';
  }

  isSymbolicLink(): boolean {
    return this.#type === 'symlink';
  }
}

function sizeOf(inode: Inode): number {
  if (inode.type === 'file') return inode.content?.size ?? 0;
  if (inode.type === 'symlink') return Buffer.byteLength(inode.target ?? '');
  return inode.type === 'directory' ? blockSizeBytes : 0;
}
