import type { UnwatchedDirectory } from '../../sync/ports/folder.ts';

/** The watches of a folder's directories, one each. Paths are relative to the folder. */
export interface DirectoryWatches {
  /** Directories that should be watched but are not. */
  unwatched(): readonly UnwatchedDirectory[];
  /** Resolves when the hints of all earlier changes have been delivered; with false if they may have been lost. */
  flush(): Promise<boolean>;
  /**
   * Ensures that the directory now at `path` is watched under this path. Its watch is active on return. Returns its inode number, or
   * undefined if there is no directory.
   */
  watch(path: string): number | undefined;
  /** The agent is about to rename this directory: the event of that must not end the watches in it. */
  moving(from: string): void;
  /** The agent has renamed a directory, or without `to` has not. The watches in it move with it, and no event is lost. */
  moved(from: string, to: string | undefined): void;
  /** Ends the watches of a directory and of everything below it. */
  forget(path: string): void;
  close(): Promise<void>;
}
