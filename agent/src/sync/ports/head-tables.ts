import type { ContentId, Dot, MemberRecord, Operation } from '@lockstep/shared';
import type { PendingPath } from '../../core/entry.ts';

export interface PendingQuery {
  /** `live`: entries to create or change, parents first. `delete`: entries to remove, children first. */
  readonly which: 'live' | 'delete';
  /** Start after this path, in that order. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** The operations that no other at their path supersedes. */
export interface HeadTable {
  /** The heads of `path`, the visible one first. Empty if the path never had an operation. */
  at(path: string): readonly Operation[];
  /** True if the operation at this path is a head, visible or not: no other supersedes it. */
  has(operation: Dot & { readonly path: string }): boolean;
  /** Visible heads at or below `prefix` (`''`: all), by path, after `after`. */
  under(prefix: string, after: string | undefined, limit: number): readonly Operation[];
  hasLiveBelow(directory: string): boolean;
  /** Paths with more than one head, by path, after `after`. */
  contested(after: string | undefined, limit: number): readonly { path: string; heads: readonly Operation[] }[];
  /** Live visible heads whose parent directory is not a live directory head, by path, after `after`. */
  orphans(after: string | undefined, limit: number): readonly Operation[];
  /** A head (visible or not) that carries this content, if any. */
  withContent(content: ContentId): Operation | undefined;
  /** Heads (visible or not) that carry this content, at most `limit`. */
  allWithContent(content: ContentId, limit: number): readonly Operation[];
  /** Paths whose visible head is not on this disk, at most `limit`. To go on, ask again with the last path. */
  pending(query: PendingQuery): readonly PendingPath[];
}

/** The member list: the visible heads of the member paths. */
export interface MemberTable {
  all(): readonly MemberRecord[];
}

/** The conflict copies in the folder: live files and links whose name is that of a conflict copy, and those that were there. */
export interface ConflictCopyTable {
  /** Conflict copies by path, after `after`, at most `limit`. The cost grows with the number of copies, not of files. */
  after(after: string | undefined, limit: number): readonly Operation[];
  count(): number;
  /**
   * The operations that removed or renamed a conflict copy, newest first, at most `limit`: those of the last hundred thousand operations
   * whose path still has no entry. Must not be called within a transaction.
   */
  removed(limit: number): readonly Operation[];
}

/** One slice of a search: the entries found in it, and the start of the next one. */
export interface SearchSlice {
  readonly found: readonly Operation[];
  /** Pass this as `after`; undefined at the end of the search. */
  readonly next: string | undefined;
}

/** The files below a directory. */
export interface BelowSum {
  readonly bytes: number;
  /** The number of paths that were counted; if it is the maximum asked for, there may be more. */
  readonly paths: number;
}

/** Queries for browsing the folder. All return visible heads without member entries, and only live ones unless they say otherwise. */
export interface TreeTable {
  /** Entries directly in `directory` (`''`: the folder), by path, after the path `after`. The cost grows with `limit`. */
  liveChildren(directory: string, after: string | undefined, limit: number): readonly Operation[];
  /** As `liveChildren`, for the deletes directly in `directory`. */
  deletedChildren(directory: string, after: string | undefined, limit: number): readonly Operation[];
  liveChildCount(directory: string): number;
  /** The sum of the sizes of at most `pathsMax` live entries below `directory`, the first by path. The cost grows with `pathsMax`. */
  sumBelow(directory: string, pathsMax: number): BelowSum;
  /** Entries whose path begins with `prefix`, by path. */
  liveWithPrefix(prefix: string, limit: number): readonly Operation[];
  /**
   * Entries whose name contains `text`, regardless of case, by path, after `after`: at most `limit` of them out of the next
   * `pathsMax` paths, so that a large folder can be searched in slices. A text with a slash is searched for in the whole path.
   */
  search(text: string, after: string | undefined, bounds: SearchBounds): SearchSlice;
}

export interface SearchBounds {
  readonly limit: number;
  readonly pathsMax: number;
}

export interface JournalCounts {
  /** Live files and directories among the visible heads, and the files' bytes. */
  readonly files: number;
  readonly directories: number;
  readonly bytes: number;
  /** Paths whose visible head is not on the disk, and paths with more than one head. */
  readonly pending: number;
  readonly contested: number;
  /** Bytes of the live files among the visible heads whose content is not at its path on the disk. */
  readonly missingBytes: number;
  /** The files and directories that are in place on the disk, and the files' bytes. */
  readonly disk: { readonly files: number; readonly directories: number; readonly bytes: number };
}

/** The totals over all heads and over the disk. */
export interface TotalsTable {
  counts(): JournalCounts;
  /** Combination of all heads (core/digest), 16 hexadecimal digits. */
  digest(): string;
}
