import { type ContentId, type Dot, dotKey, type Operation } from '@lockstep/shared';

/** What the file system said of an entry when it was last known to show an operation. Times in milliseconds with fractions. */
export interface Fingerprint {
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  /** The whole `st_mode`, type included. */
  readonly mode: number;
  /** When the inode was made. Undefined on a file system that keeps no birth times, and in rows of earlier journals. */
  readonly birthMs?: number | undefined;
}

/** False when two fingerprints with one inode number belong to two inodes: the number was given out again. An unknown birth time tells nothing. */
export function mayBeSameInode(a: Fingerprint, b: Fingerprint): boolean {
  return a.ino === b.ino && (a.birthMs === undefined || b.birthMs === undefined || a.birthMs === b.birthMs);
}

/** True when nothing was written between the two, as far as size and time of modification tell. */
export function isSameWriting(
  a: Pick<Fingerprint, 'size' | 'mtimeMs'>,
  b: Pick<Fingerprint, 'size' | 'mtimeMs'>,
): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs;
}

/** True when nothing was written, moved or given another mode between the two: every part is the same. */
export function isSameFingerprint(a: Fingerprint, b: Fingerprint): boolean {
  return mayBeSameInode(a, b) && isSameWriting(a, b) && a.ctimeMs === b.ctimeMs && a.mode === b.mode;
}

/** As `isSameFingerprint`. Of a directory only identity and mode count: its size and times move with its entries. */
export function isSameEntry(a: Fingerprint, b: Fingerprint): boolean {
  return isDirectoryMode(a.mode) ? mayBeSameInode(a, b) && a.mode === b.mode : isSameFingerprint(a, b);
}

/**
 * A row of `disk`: the operation that this member's disk shows at a path, and the fingerprint it left. `fingerprint` is
 * undefined while the path is absent (the operation is then a delete).
 */
export interface DiskEntry {
  readonly path: string;
  readonly dot: Dot;
  readonly content?: ContentId | undefined;
  readonly fingerprint?: Fingerprint | undefined;
  /**
   * The entry was looked at so soon after its last change that a later change could have left the same fingerprint
   * (file times advance in steps of some milliseconds): the next look reads it whatever the fingerprint says.
   */
  readonly racy?: boolean | undefined;
  /** A user made the entry what it is, or removed it, and this disk may forget that in a power cut: no sync has ended since. */
  readonly unsynced?: boolean | undefined;
  /**
   * The disk does not hold what the operation says, and no user changed it: a power cut or a failing disk did. The fingerprint is that
   * of what is there; `content` is undefined, so that the entry is a source of nothing, unless mode or time alone are wrong. The path is pending.
   */
  readonly damaged?: boolean | undefined;
  /**
   * A program that has the file mapped may have changed it after it was read, and left no trace (core/confirmation). `dirty`: it may do
   * so still. `clean`: a sync has ended that, so the file is certain once it was read again.
   */
  readonly unconfirmed?: Unconfirmed | undefined;
  /** Of a damaged entry: the content of what is there, where that was read. While it is found again, nobody has edited the damage. */
  readonly found?: ContentId | undefined;
  /**
   * Of a damaged entry: a power cut left it, and its bytes are kept elsewhere where somebody wrote them. The same bytes under another
   * fingerprint were written there by a user.
   */
  readonly cut?: boolean | undefined;
}

export type Unconfirmed = 'dirty' | 'clean';

/** What a row says of its file's bytes besides their content. It goes along where the agent gives the file another name, mode or time. */
export type RowMarks = Pick<DiskEntry, 'unsynced' | 'unconfirmed'>;

/**
 * True when the disk shows something at a path that its user can miss. An empty file is not: programs leave one between making a file and
 * writing it, and so does a power cut.
 */
export function showsSomething(row: DiskEntry | undefined): boolean {
  if (row?.fingerprint === undefined) return false;
  const isFile = row.content !== undefined || row.damaged === true;
  return !isFile || row.fingerprint.size > 0;
}

/** True when the row at a path is what it was: it shows the same operation, content and fingerprint. */
export function isSameRow(now: DiskEntry | undefined, before: DiskEntry): now is DiskEntry {
  if (now?.fingerprint === undefined || before.fingerprint === undefined) return false;
  const isSameShown = dotKey(now.dot) === dotKey(before.dot) && contentRead(now) === contentRead(before);
  return isSameShown && isSameFingerprint(now.fingerprint, before.fingerprint);
}

/** The content that was last read at the path: that of the operation, or of a damaged entry what is there instead. Undefined where it was not read. */
export function contentRead(row: DiskEntry): ContentId | undefined {
  return row.content ?? row.found;
}

/** The row of an entry that is damaged: `found` is the content of what is there. */
export function damagedEntry(dot: Dot, fingerprint: Fingerprint, found: ContentId): Omit<DiskEntry, 'path'> {
  return { dot, fingerprint, damaged: true, found };
}

/** A row to be written to `disk`: where `dot` is undefined the row is removed. */
export interface DiskChange {
  readonly path: string;
  readonly entry: Omit<DiskEntry, 'path'> | undefined;
}

/** A path whose visible head is not what this member's disk shows. */
export interface PendingPath {
  readonly path: string;
  /** All heads, one for most paths. */
  readonly heads: readonly Operation[];
  readonly disk: DiskEntry | undefined;
}

/** File systems, and Node, keep times to less than two microseconds of what they were given. */
const timeToleranceUs = 2;

/** From 2112 on the doubles in which Node hands over seconds and milliseconds are further apart than a microsecond. */
const timeToleranceShare = 2 ** -50;

/** True when two modification times, in microseconds, are the same one. */
export function isSameTime(a: number, b: number): boolean {
  return (
    a === b || Math.abs(a - b) < Math.max(timeToleranceUs, Math.max(Math.abs(a), Math.abs(b)) * timeToleranceShare)
  );
}

/** The row of `disk` that says: `path` shows `head`, and left this fingerprint. */
export function entryFor(
  path: string,
  head: Operation,
  left: Fingerprint | undefined,
  racy: boolean,
  { unsynced, unconfirmed }: RowMarks = {},
): DiskChange {
  const dot = { origin: head.origin, seq: head.seq };
  const durability = unsynced ? { unsynced } : {};
  if (left === undefined) return { path, entry: { dot, ...durability } };
  const marks = { ...durability, ...(unconfirmed && { unconfirmed }) };
  return { path, entry: { dot, content: head.content, fingerprint: left, racy, ...marks } };
}

const typeBits = 0o170000;
const directoryBits = 0o040000;

export function isDirectoryMode(mode: number): boolean {
  return (mode & typeBits) === directoryBits;
}

export function permissions(mode: number): number {
  return mode & 0o7777;
}
