import type { Operation } from '@lockstep/shared';

/** The conflict copies in the folder: live files and links whose name is that of a conflict copy. */
export interface ConflictCopies {
  /** Conflict copies by path, after `after`, at most `limit`. The cost grows with the number of copies, not of files. */
  conflictCopies(after: string | undefined, limit: number): readonly Operation[];
  conflictCopyCount(): number;
}
