import type { Operation } from '@lockstep/shared';

/** The conflict copies in the folder: live files and links whose name is that of a conflict copy, and those that were there. */
export interface ConflictCopies {
  /** Conflict copies by path, after `after`, at most `limit`. The cost grows with the number of copies, not of files. */
  conflictCopies(after: string | undefined, limit: number): readonly Operation[];
  conflictCopyCount(): number;
  /**
   * The operations that removed or renamed a conflict copy, newest first, at most `limit`: those of the last hundred thousand operations
   * whose path still has no entry. Must not be called within a transaction.
   */
  removedCopies(limit: number): readonly Operation[];
}
