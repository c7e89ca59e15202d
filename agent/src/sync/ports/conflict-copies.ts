import type { Operation } from '@lockstep/shared';

/** Which conflict copies there are: live files and links with the name of one. */
export interface ConflictCopies {
  /** By path, after `after`. The cost follows the number of copies, not of files. */
  conflictCopies(after: string | undefined, limit: number): readonly Operation[];
  conflictCopyCount(): number;
}
