import type { Operation } from '@lockstep/shared';

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
export interface TreeQuestions {
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
