import type { ContentId } from '@lockstep/shared';
import type { Fingerprint } from '../../core/entry.ts';
import type { EntryStats } from '../../fs/system-calls.ts';
import type { Content } from './content.ts';

const typeBits = { file: 0o100_000, directory: 0o040_000, symlink: 0o120_000, special: 0o010_000 } as const;

const blockSizeBytes = 4_096;
/** The unit of `st_blocks`. */
const statBlockBytes = 512;

export type InodeType = keyof typeof typeBits;

/** The user on whose behalf everything is done. */
export const userNumber = 1_000;

/** A file system: what gives out inode numbers. Nothing is renamed or linked from one to another. */
export class Device {
  readonly number: number;
  /** Freed inode numbers are given out again at once, as ext4 does. */
  readonly freed: Pick<Inode, 'number' | 'birthMs' | 'held'>[] = [];
  lastNumber = 1;

  constructor(number: number) {
    this.number = number;
  }

  /** Its size, by which it is told from others where it has no birth times. */
  get blocks(): number {
    return 2 ** 24 + this.number;
  }
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
  /** Names that refer to it, anywhere on the disk. */
  links: number;
  /** Descriptors that are open on it. Without names and descriptors its number is free again. */
  opens: number;
  /** Files. */
  content?: Content;
  /** Every content that it ever had: a row of `disk` that says otherwise was made for another inode. */
  readonly held: Set<ContentId>;
  /** Symbolic links. */
  target?: string;
  /** Directories. */
  readonly children?: Map<string, Inode>;
}

/** A copy of an inode and all below it; what has several names stays one inode. */
export function copyInode(inode: Inode, copies: Map<Inode, Inode>): Inode {
  const known = copies.get(inode);
  if (known !== undefined) return known;
  const { children } = inode;
  const copy: Inode = { ...inode, opens: 0, held: new Set(inode.held), ...(children && { children: new Map() }) };
  copies.set(inode, copy);
  for (const [name, child] of children ?? []) copy.children?.set(name, copyInode(child, copies));
  return copy;
}

/** What stat(2) says of an inode, as the agent's rows have it. */
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

/** What stat(2) says of an inode. */
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
