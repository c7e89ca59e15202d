import type { DiskEntry } from '../../core/entry.ts';
import type { Observation } from '../ports/folder.ts';

/**
 * What the end of the machine's last boot means for files that changed in it. Where the machine stopped while the agent ran, a file that
 * changed and was not looked at changed in the last moments before that: it may be torn, and no row says what it should hold.
 */
export class LastBoot {
  #endedMs: number | undefined;
  #found: (path: string) => void = () => undefined;

  /** The machine stopped while the agent ran. `endedMs`: nothing of that boot changed later. `found`: called for each torn file. */
  stopped(endedMs: number, found: (path: string) => void): void {
    this.#endedMs = endedMs;
    this.#found = found;
  }

  /** True when the machine stopped while the agent ran, so that files may be torn. */
  get wasCutOff(): boolean {
    return this.#endedMs !== undefined;
  }

  /** True when the file was changed after the row was recorded, and before the machine stopped. */
  mayHaveTorn(row: DiskEntry, seen: Observation & { readonly state: 'file' }): boolean {
    if (this.#endedMs === undefined || row.damaged || row.fingerprint === undefined) return false;
    return seen.content !== row.content && seen.fingerprint.ctimeMs < this.#endedMs;
  }

  /** A torn file was found: its content comes from other members. */
  found(path: string): void {
    this.#found(path);
  }
}
