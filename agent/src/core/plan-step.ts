import type { ContentId, Operation } from '@lockstep/shared';
import type { ActionRequest, ContentSource } from './action.ts';
import type { DiskChange, DiskEntry, Fingerprint, RowMarks } from './entry.ts';

/** What planning may ask about paths outside its batch. Answers must not change while a plan is made. */
export interface PlanView {
  /** The visible head. */
  head(path: string): Operation | undefined;
  disk(path: string): DiskEntry | undefined;
  /** The operation that a row of `disk` shows. */
  shown(entry: DiskEntry): Operation | undefined;
  hasLiveBelow(directory: string): boolean;
  /** Rows of existing entries below `directory`, all of them. */
  diskBelow(directory: string): readonly DiskEntry[];
  hasDiskBelow(directory: string): boolean;
  /**
   * False when the rename `operation` was tried, and is not to be done by one rename(2): what the journal does not know lay in the way of
   * moving a directory whole, or the old name is on another disk.
   */
  movesWhole(operation: Operation): boolean;
  /** Where this member has the content without asking anyone. */
  localSource(content: ContentId): ContentSource | undefined;
  ignores(path: string, isDirectory: boolean): boolean;
}

/** One action, and what to write into `disk` when it is done, given the fingerprint that it left at its target. */
export interface PlanStep {
  readonly request: ActionRequest;
  readonly path: string;
  readonly record: (left: Fingerprint | undefined, racy: boolean) => readonly DiskChange[];
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
