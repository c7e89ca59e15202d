import type { ContentId, ProblemCode } from '@lockstep/shared';
import type { Inodes } from '../../core/disk-room.ts';
import type { Fingerprint } from '../../core/entry.ts';
import type { PackedFiles } from '../../core/packed-files.ts';
import type { ActionRequest, ContentSource } from '../../core/plan/action.ts';
import type { Observation, ObserveRequest, ScannedDirectory } from './observation.ts';
import type { BlockSource, Piece, PieceReader } from './pieces.ts';

export type { Action, ActionRequest, ContentSource, Expected } from '../../core/plan/action.ts';

/** An entry that was synced by its name. */
export interface SyncedEntry {
  readonly path: string;
  /** Its inode number; undefined if there was none. */
  readonly ino: number | undefined;
}

/** A file that had one more name in `.lockstep` for a while: the agent gave it that name, or removed it, and did nothing else to the file. */
export interface ReleasedFile {
  /** Its fingerprint before. */
  readonly before: Fingerprint;
  /** Its fingerprint just after. Without a user's change at that moment, only the change time differs. */
  readonly after: Fingerprint;
}

/** The result of a sync. `failed`: the system reported that bytes could not be written, and may have dropped them from its cache. */
export type SyncResult =
  | {
      readonly result: 'done';
      /** Paths that were not synced, because another disk than the known one is mounted there. */
      readonly hidden: readonly string[];
      /** The entries that were synced one by one. If another one is there now, the known one may have another name and not be durable. */
      readonly single: readonly SyncedEntry[];
    }
  | { readonly result: 'failed'; readonly detail: string }
  /** The sync could not be requested; nothing was lost. */
  | { readonly result: 'not-done'; readonly detail: string };

export type ActionResult =
  /** Durable: bytes, names and times are on the disk. `fingerprint`: of the resulting entry (absent after unlink and rmdir). */
  | { readonly result: 'done'; readonly fingerprint?: Fingerprint; readonly racy?: boolean }
  /** The entry is not the expected one (a local edit): nothing was done; detect that change first. */
  | { readonly result: 'changed'; readonly released?: ReleasedFile }
  /** The source no longer has the content, or the file whose time is to be set. */
  | { readonly result: 'source-gone' }
  | {
      readonly result: 'problem';
      readonly code: ProblemCode;
      readonly detail: string;
      readonly released?: ReleasedFile;
    };

/** A hint of the watcher. It proves nothing: the caller observes or scans the path before it acts. */
export type WatchHint =
  /** The entry at `path` may have changed. */
  | { readonly kind: 'path'; readonly path: string }
  /** Entries directly in `path`, or anywhere below it if `recursive`, may have changed. */
  | { readonly kind: 'directory'; readonly path: string; readonly recursive: boolean };

/** Why bytes that are right could not be staged. One with a `code` is another error of the system: a problem of the path. */
export type StageFailure = 'disk-full' | 'lost' | { readonly code: ProblemCode; readonly detail: string };

export interface UnwatchedDirectory {
  readonly path: string;
  /** The agent has no permission to read it, which its listing reports. If false, a limit of the system is reached. */
  readonly closed: boolean;
}

/** The space of the disk that the folder is on. */
export interface DiskRoom {
  readonly freeBytes: number;
  /** Size of the disk. */
  readonly totalBytes: number;
  /** Undefined if their number is not limited. */
  readonly inodes?: Inodes | undefined;
}

export interface FolderHealth {
  readonly ok: boolean;
  /** If not `ok`: what is wrong and what to do. */
  readonly detail?: string;
  /** Why no entry can be written to the folder although it exists: a directory of `.lockstep` is gone and cannot be made. */
  readonly state?: string;
  /** Absent while the disk is not there or cannot be asked, and always there if `ok`. */
  readonly room?: DiskRoom;
}

/** The size of the history. */
export interface HistoryUse {
  readonly versions: number;
  /** Its space on the disk. */
  readonly bytes: number;
}

/** Limits of the history. Content that is still needed is kept beyond them. */
export interface HistoryLimits {
  /** Its space on the disk, in bytes. */
  readonly bytesMax: number;
  /** Number of versions. */
  readonly filesMax: number;
  /** Milliseconds since a version was put into the history. */
  readonly ageMsMax: number;
}

/** A new file in staging, for bytes whose content id is known only after the last one. `drop` it in any case. */
export interface Draft {
  /** Its name as a source of `write`. */
  readonly name: string;
  /**
   * Begins with the bytes of a file of the folder, before any `add`. They are verified. `source-gone`: the file has changed, or is damaged.
   * `lost`: as for `add`.
   */
  copy(file: CopiedFile): Promise<'ok' | 'disk-full' | 'lost' | 'source-gone'>;
  /**
   * Adds the next block, or replaces block `index`; each but the last one has `blockBytes`, and none becomes shorter. `lost`: the file is gone,
   * start again.
   */
  add(bytes: Uint8Array, index?: number): Promise<'ok' | 'disk-full' | 'lost'>;
  /** Makes it durable, and says what was added. Undefined if the file is gone. */
  finish(): Promise<DraftContent | undefined>;
  /** Removes the file, unless a write took it. */
  drop(): Promise<void>;
}

/** A file of the folder whose bytes begin a draft. */
export interface CopiedFile extends DraftContent {
  readonly path: string;
  readonly fingerprint: Fingerprint;
}

/** The content of a draft, as its operation will describe it. */
export interface DraftContent {
  readonly content: ContentId;
  readonly blocks?: Uint8Array | undefined;
  readonly size: number;
}

/** A mount inside the folder that differs from the accepted one. */
export interface ChangedMount {
  readonly path: string;
  /** A file system is mounted at a path that was no mount point. */
  readonly isNew: boolean;
  /** Of the entry at the path now, if there is one. */
  readonly ino?: number | undefined;
  readonly birthMs?: number | undefined;
  /** A sentence on the problem and on the action to take. */
  readonly detail: string;
}

/** The result of a poll. */
export interface PolledFiles {
  /** Paths whose inode is the known one and whose fingerprint is another. */
  readonly changed: readonly string[];
  /** Paths of files that have more than one name. */
  readonly linked: readonly string[];
}

/**
 * A block whose bytes are on this machine already: as a block of another content, as pieces of a file and of received bytes, or as zeros.
 */
export interface BlockCopy {
  readonly index: number;
  readonly from:
    | { readonly content: ContentId; readonly index: number; readonly source: ContentSource }
    | { readonly path: string; readonly pieces: readonly Piece[] }
    | 'zeros';
}

/** This member's folder: watches, observes, stages and applies. Paths are relative to it. It makes no decisions. */
export interface Folder {
  /** Starts the watcher. `scan` sets the watch of each directory before it lists it. */
  watch(hint: (hints: readonly WatchHint[]) => void): Promise<void>;
  /** Directories without a working watch: the caller scans them by timer. */
  unwatched(): readonly UnwatchedDirectory[];
  /**
   * Resolves once the hints for all changes made before the call have been given. True: the hints are complete. False: events
   * were lost or cannot be received, so that only a scan finds all changes.
   */
  flushHints(): Promise<boolean>;

  /** Observes each path and reads files that differ from `expected`. Results are in the order of the requests. */
  observe(requests: readonly ObserveRequest[]): Promise<readonly Observation[]>;
  /** Compares the fingerprints of files with the known ones, without reading content. Cheap. Files that cannot be examined are in neither list. */
  poll(files: PackedFiles): Promise<PolledFiles>;
  /** Paths of files that processes of this machine have mapped for writing, as far as this process may see them. */
  mapped(): Promise<readonly string[]>;
  /** Paths of files that other processes of this machine have open or mapped for writing, as far as this process may see them. */
  inUse(): Promise<readonly string[]>;
  /**
   * Lists `directory`, and everything below it if `recursive`: parents before children, one directory at a time. It
   * watches each directory before it lists it, unless `unwatched`. `skip` returns true for paths that are neither entered nor reported
   * (ignored ones).
   */
  scan(
    directory: string,
    options: {
      readonly recursive: boolean;
      readonly unwatched?: boolean;
      readonly skip: (path: string, isDirectory: boolean) => boolean;
    },
  ): AsyncIterable<readonly ScannedDirectory[]>;

  /** Executes the actions in order. Results are in the order of the requests; after a failure the others are still executed. */
  apply(requests: readonly ActionRequest[]): Promise<readonly ActionResult[]>;

  /**
   * Makes the changes that users made at these paths durable, names included. May sync the whole file system. Does not use the worker lane
   * that the holder of the folder lock waits for.
   */
  sync(paths: readonly string[]): Promise<SyncResult>;

  /**
   * Verifies one block and adds it to the staged file of `content`, which is for the file at `path`. The bytes are handed over: the caller must not use them again.
   * `corrupt`: the bytes do not match, and are not added. `lost`: all staged blocks of the content are gone, this one included; the caller
   * starts again at the first block.
   */
  stageBlock(request: {
    readonly path: string;
    readonly content: ContentId;
    readonly blocks?: Uint8Array | undefined;
    readonly size: number;
    readonly index: number;
    readonly bytes: Uint8Array;
  }): Promise<'ok' | 'corrupt' | StageFailure>;
  /**
   * Adds blocks that are on this machine already to the staged file of `content`. Each is read and verified. Resolves with the indices of
   * those that were added. `lost`: as for `stageBlock`. The sources `bytes`, `staged` and `draft` are not allowed here.
   */
  stageCopies(request: {
    readonly path: string;
    readonly content: ContentId;
    readonly blocks?: Uint8Array | undefined;
    readonly size: number;
    readonly copies: readonly BlockCopy[];
  }): Promise<{ readonly result: 'ok' | StageFailure; readonly added: readonly number[] }>;
  /** The hash of a block of zeros, of `blockBytes` bytes. */
  readonly zeroBlockHash: Uint8Array;
  /** The contents of which an earlier agent left blocks in staging when this one started. */
  readonly leftContents: readonly ContentId[];
  /** The files that lost their name in staging when this agent started. */
  readonly released: readonly ReleasedFile[];
  /** The indices of the blocks of `content` that are staged, also by an earlier agent: those are read and verified. */
  stagedBlocks(request: {
    readonly content: ContentId;
    readonly blocks?: Uint8Array | undefined;
    readonly size: number;
  }): Promise<readonly number[]>;
  /** Deletes the staged file of `content`. */
  unstage(content: ContentId): Promise<void>;

  /** Begins a new file in staging. It is removed when the agent starts again. */
  draft(): Draft;

  /**
   * Reads one block of `content` and verifies it. Resolves with `undefined` if the source no longer has it, or the block is not staged.
   * The sources `bytes` and `draft` are not allowed here.
   */
  readBlock(request: BlockSource): Promise<Uint8Array | undefined>;
  /** As `readBlock` for each of these, in the same order. Together they should not be much larger than a block. */
  readBlocks(requests: readonly BlockSource[]): Promise<readonly (Uint8Array | undefined)[]>;
  /** As `readBlock`, but returns only whether the block is right, and has low priority: no transfer waits for it. */
  holdsBlock(request: BlockSource): Promise<boolean>;
  /** Reads pieces of contents that moved within a file. */
  readonly pieces: PieceReader;
  /** Those of these contents that are in `history/`. */
  inHistory(contents: readonly ContentId[]): Promise<ReadonlySet<ContentId>>;
  /**
   * Copies each `content` into `history/`, so that it outlives the file that holds it now. Resolves with whether it is there, in the same
   * order. Many together take few syncs of the disk.
   */
  keep(
    requests: readonly {
      readonly content: ContentId;
      readonly blocks?: Uint8Array | undefined;
      readonly size: number;
      readonly source: ContentSource;
    }[],
  ): Promise<readonly boolean[]>;
  /** The size of `history/`; undefined until it was counted for the first time. */
  historyUse(): HistoryUse | undefined;
  /** Counts what `history/` holds. Cheap, but for the first time. */
  countHistory(): Promise<HistoryUse>;
  /** Removes the oldest contents of `history/` beyond the limits, except those for which `needed` returns true. */
  trimHistory(limits: HistoryLimits, needed: (content: ContentId) => boolean): Promise<void>;

  /**
   * Compares the mounts inside the folder with the accepted ones. While a mount differs from the accepted one, every method
   * reports the problem `mount-changed` for each path at or below it.
   */
  checkMounts(): Promise<readonly ChangedMount[]>;
  /** Accepts the mount at `path`, or its absence, as part of the folder. Durable. Rejects if this cannot be recorded. */
  acceptMount(path: string): Promise<void>;

  /** Whether the folder exists, is the one this member synchronizes, and is writable. Cheap: called before every batch. */
  health(): Promise<FolderHealth>;
  /**
   * How long the longest-stuck worker of the folder has made no progress on its job, in milliseconds. Call it regularly: it
   * compares with the previous call. It does not touch the disk, so that it answers while the disk hangs.
   */
  stalledMs(): number;
}
