import type { Operation } from '@lockstep/shared';

/** One slice of a search: what was found in it, and where the next one begins. */
export interface SearchSlice {
  readonly found: readonly Operation[];
  /** Pass this as `after`; undefined when all was looked at. */
  readonly next: string | undefined;
}

/** Questions of a person who walks through the folder. All speak of live visible heads; member entries are none. */
export interface TreeQuestions {
  /** What lies directly in `directory` (`''`: the folder), by path, after the path `after`. The cost follows `limit`. */
  liveChildren(directory: string, after: string | undefined, limit: number): readonly Operation[];
  liveChildCount(directory: string): number;
  /** Entries whose path begins with `prefix`, by path. */
  liveWithPrefix(prefix: string, limit: number): readonly Operation[];
  /**
   * Entries whose name holds `text`, in small or capital letters, by path, after `after`: at most `limit` of them out of the next
   * `pathsMax` paths, so that a large folder can be searched in slices. A text with a slash is looked for in the whole path.
   */
  search(text: string, after: string | undefined, bounds: SearchBounds): SearchSlice;
}

export interface SearchBounds {
  readonly limit: number;
  readonly pathsMax: number;
}
