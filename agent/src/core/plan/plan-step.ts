import type { ContentId, Operation } from '@lockstep/shared';
import type { DiskChange, DiskEntry, Fingerprint } from '../entry.ts';
import type { ActionRequest, ContentSource } from './action.ts';

/** An entry in a directory that is renamed, with the visible heads of its old and its new path. */
export interface MovedEntry {
  readonly row: DiskEntry;
  readonly before: Operation | undefined;
  readonly after: Operation | undefined;
  /** The disk shows an entry at the new path. */
  readonly isInTheWay: boolean;
}

/** The facts about paths outside its batch that planning may ask for. Answers must not change while a plan is made. */
export interface PlanView {
  /** The visible head. */
  head(path: string): Operation | undefined;
  disk(path: string): DiskEntry | undefined;
  /** The operation that a row of `disk` shows. */
  shown(entry: DiskEntry): Operation | undefined;
  hasLiveBelow(directory: string): boolean;
  /** The existing entries below `from`, by path, which a rename of that directory moves to `path`. */
  moved(from: string, path: string): readonly MovedEntry[];
  hasDiskBelow(directory: string): boolean;
  /**
   * False when the rename `operation` was tried and one rename(2) cannot do it. Either an entry that the journal does not know kept the
   * directory from moving whole, or the old name is on another disk.
   */
  movesWhole(operation: Operation): boolean;
  /** The place where this member itself has the content. */
  localSource(content: ContentId): ContentSource | undefined;
  /** True if a file of this member has the content that cannot be read now, because another mount is over it. */
  isHidden(content: ContentId): boolean;
  ignores(path: string, isDirectory: boolean): boolean;
  /** False for a file whose content this member does not fetch now, because it fetches on demand. */
  isWanted(path: string): boolean;
  /** True for a file that is put into the folder if its bytes are here already: this member keeps a copy for the cluster, and has room for it. */
  takes(operation: Operation): boolean;
}

/** One action, and the rows of `disk` to write when it is done, given the fingerprint of the entry at its target. */
export interface PlanStep {
  readonly request: ActionRequest;
  readonly path: string;
  /** A file is removed, and its next version is fetched when it is read. */
  readonly becomesRemote?: true;
  readonly record: (left: Fingerprint | undefined, racy: boolean) => readonly DiskChange[];
}
