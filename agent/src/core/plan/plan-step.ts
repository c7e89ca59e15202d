import type { ContentId, Operation } from '@lockstep/shared';
import type { DiskChange, DiskEntry, Fingerprint } from '../entry.ts';
import type { ActionRequest, ContentSource } from './action.ts';

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
