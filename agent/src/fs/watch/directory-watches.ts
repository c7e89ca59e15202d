import type { UnwatchedDirectory } from '../../sync/ports/folder.ts';

/** The watches of a folder's directories, one each. Paths are relative to the folder. */
export interface DirectoryWatches {
  /** Directories that should be watched and are not. */
  unwatched(): readonly UnwatchedDirectory[];
  /** Resolves when the hints of all that changed before have been delivered; with false when they may have been lost. */
  flush(): Promise<boolean>;
  /**
   * Makes sure that the directory which stands at `path` now is watched under this path. Its watch is active when this returns.
   * Answers with its inode number, or undefined when no directory stands there.
   */
  watch(path: string): number | undefined;
  /** The agent is about to rename this directory: that it moves away is no reason to forget what is watched in it. */
  moving(from: string): void;
  /** The agent has renamed a directory, or (without `to`) has not: the watches in it go along, and not an event is lost. */
  moved(from: string, to: string | undefined): void;
  /** Ends the watches of a directory and of everything below it. */
  forget(path: string): void;
  close(): Promise<void>;
}
