import { type ContentId, type Dot, dotKey, type Operation } from '@lockstep/shared';

/** The attributes of an entry when it was last known to show an operation. Times in milliseconds with fractions. */
export interface Fingerprint {
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  /** The whole `st_mode`, type included. */
  readonly mode: number;
  /** The birth time. Undefined on a file system that keeps none, and in rows of earlier journals. */
  readonly birthMs?: number | undefined;
}

/**
 * False when the inode numbers differ, or when the birth times show that a number was reused for another inode. An unknown birth time
 * proves nothing.
 */
export function mayBeSameInode(
  a: Pick<Fingerprint, 'ino' | 'birthMs'>,
  b: Pick<Fingerprint, 'ino' | 'birthMs'>,
): boolean {
  return a.ino === b.ino && (a.birthMs === undefined || b.birthMs === undefined || a.birthMs === b.birthMs);
}

/** True when nothing was written between the two, according to size and modification time. */
export function isSameWriting(
  a: Pick<Fingerprint, 'size' | 'mtimeMs'>,
  b: Pick<Fingerprint, 'size' | 'mtimeMs'>,
): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs;
}

/** True when no part differs: between the two, nothing was written, moved or given another mode. */
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
   * The entry was read so soon after its last change that a later change could have left the same fingerprint. (File times advance in steps
   * of some milliseconds.) The next check reads it whatever the fingerprint says.
   */
  readonly racy?: boolean | undefined;
  /**
   * A power cut may undo this change or delete on this disk: a user made it, or made or moved a directory above the entry, and no sync has
   * ended since.
   */
  readonly unsynced?: boolean | undefined;
  /**
   * The disk does not hold the operation's entry, and no user changed it: a power cut or a failing disk did. The fingerprint is that of the
   * damaged entry. `content` is undefined, so that the entry is a source of nothing, unless mode or time alone are wrong. The path is
   * pending.
   */
  readonly damaged?: boolean | undefined;
  /**
   * A program that has the file mapped may have changed it after it was read, without a trace (core/confirmation). `dirty`: it still may.
   * `clean`: a sync has ended that, so the content is certain once the file was read again.
   */
  readonly unconfirmed?: Unconfirmed | undefined;
  /** Of a damaged entry: the damaged content, if it was read. While a read finds the same content, no user has edited the damage. */
  readonly found?: ContentId | undefined;
  /**
   * Of a damaged entry: a power cut left it, and its bytes were kept elsewhere if a user may have written them. The same bytes under
   * another fingerprint were written there by a user, unless they are zeros.
   */
  readonly cut?: boolean | undefined;
  /**
   * The operation's file is not on this disk, which is as it should be: this member fetches contents on demand. There is no fingerprint, and
   * the path is not pending.
   */
  readonly remote?: boolean | undefined;
}

export type Unconfirmed = 'dirty' | 'clean';

/**
 * The marks of a row about its file's bytes, besides their content. They stay with the file when the agent changes its name, mode or time.
 */
export type RowMarks = Pick<DiskEntry, 'unsynced' | 'unconfirmed'>;

/**
 * True when the disk shows something at a path that its user can miss. An empty file is not: programs leave one between creating a file and
 * writing it, and so does a power cut. A file that was fetched on demand, or dropped, is something: a member that left may have it.
 */
export function showsSomething(row: DiskEntry | undefined): boolean {
  if (row?.remote === true) return true;
  if (row?.fingerprint === undefined) return false;
  const isFile = row.content !== undefined || row.damaged === true;
  return !isFile || row.fingerprint.size > 0;
}

/** True when the row at a path is unchanged: it shows the same operation, content and fingerprint. */
export function isSameRow(now: DiskEntry | undefined, before: DiskEntry): now is DiskEntry {
  if (now?.fingerprint === undefined || before.fingerprint === undefined) return false;
  const isSameShown = dotKey(now.dot) === dotKey(before.dot) && contentRead(now) === contentRead(before);
  return isSameShown && isSameFingerprint(now.fingerprint, before.fingerprint);
}

/** The row with another `racy` mark, which decides whether the next detection reads the file. */
export function markedRacy({ path, ...entry }: DiskEntry, racy: boolean): DiskChange {
  return { path, entry: { ...entry, racy } };
}

/** The content that was last read at the path: that of the operation, or that of a damaged entry. Undefined if it was not read. */
export function contentRead(row: DiskEntry): ContentId | undefined {
  return row.content ?? row.found;
}

/** The row of a damaged entry: `found` is the content that was read there. */
export function damagedEntry(dot: Dot, fingerprint: Fingerprint, found: ContentId): Omit<DiskEntry, 'path'> {
  return { dot, fingerprint, damaged: true, found };
}

/** A row to be written to `disk`; if `entry` is undefined, the row is removed. */
export interface DiskChange {
  readonly path: string;
  readonly entry: Omit<DiskEntry, 'path'> | undefined;
}

/** A path whose visible head this member's disk does not show. */
export interface PendingPath {
  readonly path: string;
  /** All heads, one for most paths. */
  readonly heads: readonly Operation[];
  readonly disk: DiskEntry | undefined;
}

/** File systems and Node keep a time to within two microseconds of its value. */
const timeToleranceUs = 2;

/** From 2112 on, the doubles that Node uses for seconds and milliseconds are further apart than a microsecond. */
const timeToleranceShare = 2 ** -50;

/** True when two modification times, in microseconds, are the same one. */
export function isSameTime(a: number, b: number): boolean {
  return (
    a === b || Math.abs(a - b) < Math.max(timeToleranceUs, Math.max(Math.abs(a), Math.abs(b)) * timeToleranceShare)
  );
}

/** The row of `disk` for a `path` that shows `head` and has the fingerprint `left`. */
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

/** The row of `disk` for a live file that is fetched on demand. */
export function remoteEntry(path: string, { origin, seq }: Dot): DiskChange {
  return { path, entry: { dot: { origin, seq }, remote: true } };
}

const typeBits = 0o170000;
const directoryBits = 0o040000;
const fileBits = 0o100000;
const linkBits = 0o120000;

export function isDirectoryMode(mode: number): boolean {
  return (mode & typeBits) === directoryBits;
}

export function isLinkMode(mode: number): boolean {
  return (mode & typeBits) === linkBits;
}

export function isFileMode(mode: number): boolean {
  return (mode & typeBits) === fileBits;
}

export function permissions(mode: number): number {
  return mode & 0o7777;
}
