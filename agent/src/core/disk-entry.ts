import type { ContentId, Dot, Operation } from '@lockstep/shared';

/** What the file system said of an entry when it was last known to show an operation. Times in milliseconds with fractions. */
export interface Fingerprint {
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  /** The whole `st_mode`, type included. */
  readonly mode: number;
}

/**
 * A row of `disk`: the operation that this member's disk shows at a path, and the fingerprint it left. `fingerprint` is
 * undefined while the path is absent (the operation is then a delete).
 */
export interface DiskEntry {
  readonly path: string;
  readonly dot: Dot;
  readonly content?: ContentId | undefined;
  readonly fingerprint?: Fingerprint | undefined;
  /**
   * The entry was looked at so soon after its last change that a later change could have left the same fingerprint
   * (file times advance in steps of some milliseconds): the next look reads it whatever the fingerprint says.
   */
  readonly racy?: boolean | undefined;
}

/** A row to be written to `disk`: where `dot` is undefined the row is removed. */
export interface DiskChange {
  readonly path: string;
  readonly entry: Omit<DiskEntry, 'path'> | undefined;
}

/** A path whose visible head is not what this member's disk shows. */
export interface PendingPath {
  readonly path: string;
  /** All heads, one for most paths. */
  readonly heads: readonly Operation[];
  readonly disk: DiskEntry | undefined;
}
