import type { ContentId, ProblemCode } from '@lockstep/shared';
import type { Fingerprint } from '../../core/entry.ts';

/** The entry at a path now. */
export type Observation =
  | { readonly path: string; readonly state: 'absent' }
  /** The fingerprint is the expected one: nothing was read. */
  | { readonly path: string; readonly state: 'same' }
  | {
      readonly path: string;
      readonly state: 'file';
      readonly fingerprint: Fingerprint;
      /** Microseconds, rounded down. The time in the fingerprint is a double and may be above the true one. */
      readonly mtimeUs: number;
      readonly racy: boolean;
      readonly content: ContentId;
      /** 32-byte block hashes, joined; only with more than one block. */
      readonly blocks?: Uint8Array;
      /** The bytes, if there are at most `bytesMax` of them (see the request). */
      readonly bytes?: Uint8Array;
      /** With `tail`: its last page is zeros, as after a system set the length of a file and never wrote its bytes. */
      readonly endsInZeros?: boolean;
      /** With `tail`: its last byte is zero, as where the end of what was appended to a file never reached its last page. */
      readonly lastIsZero?: boolean;
      /** With `tail`: it is not empty, and all its bytes are zeros. */
      readonly isZeros?: boolean;
    }
  /** A file above `hashUnderLockBytesMax`, requested without `hashLarge`: its content was not read. */
  | { readonly path: string; readonly state: 'large'; readonly fingerprint: Fingerprint }
  | { readonly path: string; readonly state: 'directory'; readonly fingerprint: Fingerprint }
  | {
      readonly path: string;
      readonly state: 'symlink';
      readonly fingerprint: Fingerprint;
      readonly mtimeUs: number;
      readonly target: string;
    }
  /** Not synchronized: a socket, pipe or device, or an entry that `problem` describes. */
  | {
      readonly path: string;
      readonly state: 'special';
      readonly problem?: { readonly code: ProblemCode; readonly detail: string };
    }
  /** It changed while it was read: observe it again later. */
  | { readonly path: string; readonly state: 'changing' }
  | {
      readonly path: string;
      readonly state: 'problem';
      readonly code: ProblemCode;
      readonly detail: string;
      /** The fingerprint of an entry whose content could not be read. */
      readonly unread?: Fingerprint;
      /** With `mount-changed`: the mount point. */
      readonly mount?: string;
    };

export interface ObserveRequest {
  readonly path: string;
  /** Answer `same` without reading if the entry still has this fingerprint. */
  readonly expected?: Fingerprint | undefined;
  /** Read files of any size. */
  readonly hashLarge?: boolean | undefined;
  /** Files of at most this many bytes are returned with their bytes; `inlineBytesMax` by default. */
  readonly bytesMax?: number | undefined;
  /** Fill in `endsInZeros`, `lastIsZero` and `isZeros`. */
  readonly tail?: boolean | undefined;
}

/** The result of a scan for one directory. */
export interface ScannedDirectory {
  readonly path: string;
  readonly entries: readonly ScannedEntry[];
  /**
   * The directory could not be read, or only in part: nothing may be inferred from names that `entries` lacks.
   * `mount`: with `mount-changed`, the mount point.
   */
  readonly problem?: { readonly code: ProblemCode; readonly detail: string; readonly mount?: string };
  /** The directory itself does not exist, or no longer exists. */
  readonly absent?: boolean;
  /** Entries that are not synchronized: special files, and names that are not UTF-8 (each invalid byte is shown as `\\xff`). */
  readonly skipped: readonly { readonly name: string; readonly code: ProblemCode }[];
  /** Names of entries that the disk does not describe: they exist, and only an observation of each says why. */
  readonly unreadable?: readonly string[] | undefined;
}

export interface ScannedEntry {
  readonly name: string;
  readonly type: 'file' | 'directory' | 'symlink';
  readonly fingerprint: Fingerprint;
}
