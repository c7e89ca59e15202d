import type { ContentId, ProblemCode } from '@lockstep/shared';
import type { Fingerprint } from '../../core/entry.ts';
import type { PackedFiles } from '../../core/packed-files.ts';
import type { ActionRequest, ContentSource } from '../../core/plan/action.ts';

export type { Action, ActionRequest, ContentSource, Expected } from '../../core/plan/action.ts';

/** What stands at a path now. */
export type Observation =
  | { readonly path: string; readonly state: 'absent' }
  /** The fingerprint is the expected one: nothing was read. */
  | { readonly path: string; readonly state: 'same' }
  | {
      readonly path: string;
      readonly state: 'file';
      readonly fingerprint: Fingerprint;
      /** Microseconds, rounded down: the fingerprint's time is a double and may lie above the true one. */
      readonly mtimeUs: number;
      readonly racy: boolean;
      readonly content: ContentId;
      /** 32-byte block hashes, joined; only with more than one block. */
      readonly blocks?: Uint8Array;
      /** The bytes, when there are at most `bytesMax` of the request. */
      readonly bytes?: Uint8Array;
      /** With `tail`: its last page is zeros, as where the system gave a file its length and never wrote its bytes. */
      readonly endsInZeros?: boolean;
      /** With `tail`: it has bytes, and all of them are zeros. */
      readonly isZeros?: boolean;
    }
  /** A file above `hashUnderLockBytesMax` (unless `hashLarge` was asked): its content was not read. */
  | { readonly path: string; readonly state: 'large'; readonly fingerprint: Fingerprint }
  | { readonly path: string; readonly state: 'directory'; readonly fingerprint: Fingerprint }
  | {
      readonly path: string;
      readonly state: 'symlink';
      readonly fingerprint: Fingerprint;
      readonly mtimeUs: number;
      readonly target: string;
    }
  /** Left alone: a socket, pipe or device, or what `problem` says. */
  | {
      readonly path: string;
      readonly state: 'special';
      readonly problem?: { readonly code: ProblemCode; readonly detail: string };
    }
  /** It changed while it was read: look again later. */
  | { readonly path: string; readonly state: 'changing' }
  | {
      readonly path: string;
      readonly state: 'problem';
      readonly code: ProblemCode;
      readonly detail: string;
      /** With `mount-changed`: the mount point. */
      readonly mount?: string;
    };

export interface ObserveRequest {
  readonly path: string;
  /** Answer `same` without reading when the entry still has this fingerprint. */
  readonly expected?: Fingerprint | undefined;
  /** Read files of any size. */
  readonly hashLarge?: boolean | undefined;
  /** Up to how many bytes the bytes of a file are in the answer; `inlineBytesMax` by default. */
  readonly bytesMax?: number | undefined;
  /** Say whether a file ends in zeros. */
  readonly tail?: boolean | undefined;
}

/** One directory as a scan saw it. */
export interface ScannedDirectory {
  readonly path: string;
  readonly entries: readonly ScannedEntry[];
  /** The directory could not be read (whole): nothing may be inferred from what is not in `entries`. */
  /** `mount`: with `mount-changed`, the mount point. */
  readonly problem?: { readonly code: ProblemCode; readonly detail: string; readonly mount?: string };
  /** The directory itself does not exist (any more). */
  readonly absent?: boolean;
  /** Names that are not UTF-8, shown with `\\xff` for a byte that is no character, and special files: left alone, counted. */
  readonly skipped: readonly { readonly name: string; readonly code: ProblemCode }[];
}

export interface ScannedEntry {
  readonly name: string;
  readonly type: 'file' | 'directory' | 'symlink';
  readonly fingerprint: Fingerprint;
}

/** What came of a sync. `failed`: the system said that bytes could not be written, and may have let go of them. */
export type SyncResult =
  /** `hidden`: but for these, which lie on a disk that is not the one that was seen there. */
  | { readonly result: 'done'; readonly hidden: readonly string[] }
  | { readonly result: 'failed'; readonly detail: string }
  /** Nothing was lost: it could not be asked for. */
  | { readonly result: 'not-done'; readonly detail: string };

export type ActionResult =
  /** Durable: bytes, names and times are on the disk. `fingerprint`: what it left (none for unlink, rmdir). */
  | { readonly result: 'done'; readonly fingerprint?: Fingerprint; readonly racy?: boolean }
  /** Something else stands there than expected: look at it first (a local edit), nothing was touched. */
  | { readonly result: 'changed' }
  /** The source did not have the content any more. */
  | { readonly result: 'source-gone' }
  | { readonly result: 'problem'; readonly code: ProblemCode; readonly detail: string };

/** What the watcher saw. Only hints: every one is followed by a look. */
export type WatchHint =
  /** The entry at `path` may have changed. */
  | { readonly kind: 'path'; readonly path: string }
  /** Anything directly in `path`, or below it where `recursive`, may have changed. */
  | { readonly kind: 'directory'; readonly path: string; readonly recursive: boolean };

export interface UnwatchedDirectory {
  readonly path: string;
  /** The agent may not read it, which its listing reports; otherwise a limit of the system is reached. */
  readonly closed: boolean;
}

export interface FolderHealth {
  readonly ok: boolean;
  /** What is wrong and what to do, when not ok. */
  readonly detail?: string;
  /** Why nothing can be put into the folder for now, though it is there: a directory of `.lockstep` is gone and cannot be made. */
  readonly state?: string;
  readonly freeBytes: number;
}

/** What history may hold. Content that is still needed is kept beyond all of it. */
export interface HistoryLimits {
  /** What it occupies on the disk, in bytes. */
  readonly bytesMax: number;
  /** Versions. */
  readonly filesMax: number;
  /** Milliseconds since a version came there. */
  readonly ageMsMax: number;
}

/** A mount inside the folder that is not what is known of its path. */
export interface ChangedMount {
  readonly path: string;
  /** Something is mounted at a path at which nothing was. */
  readonly isNew: boolean;
  /** Of what is at the path now, where anything is. */
  readonly ino?: number | undefined;
  readonly birthMs?: number | undefined;
  /** What is wrong and what to do. */
  readonly detail: string;
}

/** What a poll found. */
export interface PolledFiles {
  /** Paths at which the known inode is, with another fingerprint. */
  readonly changed: readonly string[];
  /** Paths of files that have more than one name. */
  readonly linked: readonly string[];
}

/** This member's folder: watching, looking, staging, applying. Paths are relative. Nothing here decides anything. */
export interface Folder {
  /** Begins to watch. Directories are watched as scans find them (`scan` sets the watch before it lists). */
  watch(hint: (hints: readonly WatchHint[]) => void): Promise<void>;
  /** Directories without a working watch: the caller scans them by timer. */
  unwatched(): readonly UnwatchedDirectory[];
  /**
   * Resolves when the hints for everything that changed before the call have been given: with true, or with false when events
   * were lost, or cannot be had, so that only a scan can tell.
   */
  flushHints(): Promise<boolean>;

  /** Looks at each path, reading what differs from `expected`. Results in the order of the requests. */
  observe(requests: readonly ObserveRequest[]): Promise<readonly Observation[]>;
  /** Compares the times of files with what is known, without reading them. Cheap; what cannot be looked at is in neither answer. */
  poll(files: PackedFiles): Promise<PolledFiles>;
  /** Files of the folder that processes of this machine have mapped for writing, as far as this one may see. */
  mapped(): Promise<readonly string[]>;
  /**
   * Lists `directory`, and everything below it where `recursive`, parents before children, a directory at a time, and
   * watches each directory before listing it. `skip` names paths not to enter or report (ignored ones).
   */
  scan(
    directory: string,
    options: { readonly recursive: boolean; readonly skip: (path: string, isDirectory: boolean) => boolean },
  ): AsyncIterable<readonly ScannedDirectory[]>;

  /** Carries out the actions in order. Results in the order of the requests; one failing does not stop the others. */
  apply(requests: readonly ActionRequest[]): Promise<readonly ActionResult[]>;

  /**
   * Makes what is at these paths durable, and their names: what a user wrote, made, renamed or removed there. May do so with the whole
   * file system. Off the lane that the folder lock waits for.
   */
  sync(paths: readonly string[]): Promise<SyncResult>;

  /**
   * Adds one verified block to the staged file of `content`; rejects bytes that do not match with `corrupt`. `lost`: what was staged of
   * it before is gone, and so is this block; it must be staged again from the first one.
   */
  stageBlock(request: {
    readonly content: ContentId;
    readonly blocks?: Uint8Array | undefined;
    readonly size: number;
    readonly index: number;
    readonly bytes: Uint8Array;
  }): Promise<'ok' | 'corrupt' | 'disk-full' | 'lost'>;
  /** Drops what was staged for `content`. */
  unstage(content: ContentId): Promise<void>;

  /**
   * Reads one block of `content` and verifies it. `undefined` when the source no longer has it.
   * `from: 'bytes'` and `from: 'staged'` are no sources here.
   */
  readBlock(request: {
    readonly content: ContentId;
    readonly blocks?: Uint8Array | undefined;
    readonly size: number;
    readonly index: number;
    readonly source: ContentSource;
  }): Promise<Uint8Array | undefined>;
  /** As `readBlock`, but says only whether that is the block, without haste: nothing waits for it. */
  holdsBlock(request: {
    readonly content: ContentId;
    readonly blocks?: Uint8Array | undefined;
    readonly size: number;
    readonly index: number;
    readonly source: ContentSource;
  }): Promise<boolean>;
  /** Which of these contents `history/` holds. */
  inHistory(contents: readonly ContentId[]): Promise<ReadonlySet<ContentId>>;
  /** Puts a copy of `content` into `history/` (so that it outlives the file it is in now). */
  keep(request: {
    readonly content: ContentId;
    readonly blocks?: Uint8Array | undefined;
    readonly size: number;
    readonly source: ContentSource;
  }): Promise<boolean>;
  /** Removes the oldest contents of `history/` beyond the limits, except those that `needed` says yes to. */
  trimHistory(limits: HistoryLimits, needed: (content: ContentId) => boolean): Promise<void>;

  /**
   * Compares what is mounted inside the folder with what was accepted. While a mount is not what was accepted, everything at and below it
   * is a problem with the code `mount-changed`, for every method.
   */
  checkMounts(): Promise<readonly ChangedMount[]>;
  /** Makes what is at `path` now, a mount or none, a part of the folder. Durable. Rejects when it cannot be written down. */
  acceptMount(path: string): Promise<void>;

  /** Is the folder there, ours, and writable? Cheap: called before every batch. */
  health(): Promise<FolderHealth>;
  /**
   * How long what reads and writes the folder has not got on with what it was given, in milliseconds. To be asked now and then: it
   * compares with the last time. Asks the disk nothing, so that it answers while the disk hangs.
   */
  stalledMs(): number;
}
