import type { DiskEntry } from '../../core/entry.ts';
import type { Observation } from '../ports/observation.ts';

/**
 * The end of the machine's last boot, and which files it may have torn. If the machine stopped while the agent ran, a file that
 * changed unobserved changed in the last moments before: it may be torn, and no row says what it should hold.
 */
export class LastBoot {
  /**
   * False until the changes that no sync had made durable were examined. Until then a sync proves nothing: it would make durable what a power
   * cut has left.
   */
  isExamined = true;
  #endedMs: number | undefined;
  #found: (path: string) => void = () => undefined;

  /** Records that the machine stopped while the agent ran. `endedMs`: when that boot ended. `found`: called for each torn file. */
  stopped(endedMs: number, found: (path: string) => void): void {
    this.#endedMs = endedMs;
    this.#found = found;
  }

  /** True if the machine stopped while the agent ran, so that files may be torn. */
  get wasCutOff(): boolean {
    return this.#endedMs !== undefined;
  }

  /** True if the file was changed after its row was recorded and before the machine stopped. */
  mayHaveTorn(row: DiskEntry, seen: Observation & { readonly state: 'file' }): boolean {
    if (this.#endedMs === undefined || row.damaged || row.fingerprint === undefined) return false;
    return seen.content !== row.content && seen.fingerprint.ctimeMs < this.#endedMs;
  }

  /**
   * True if the file was changed before the machine stopped, after what its row says, and ends in a zero: the disk may have got its new length and
   * not its last bytes. The row is damaged if the change was found before and is not examined yet.
   */
  mayEndTorn(row: DiskEntry, seen: Observation & { readonly state: 'file' }): boolean {
    if (this.#endedMs === undefined || seen.lastIsZero !== true) return false;
    if (row.fingerprint === undefined || row.found !== undefined || row.cut === true) return false;
    return seen.content !== row.content && seen.fingerprint.ctimeMs < this.#endedMs;
  }

  /** Reports a torn file: its content comes from other members. */
  found(path: string): void {
    this.#found(path);
  }
}
