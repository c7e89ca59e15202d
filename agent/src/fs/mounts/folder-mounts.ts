import type { ChangedMount } from '../../sync/ports/folder.ts';
import type { Places } from '../places.ts';
import type { JobRunner } from '../worker/worker-job.ts';
import { writeAccepted } from './mount-file.ts';

/** The mounts inside the folder: those that were accepted, and those that jobs must not go through. Each job gets both. */
export class FolderMounts {
  readonly #workers: JobRunner;
  readonly #places: Places;
  /** Mount points found by observations and scans. */
  readonly #suspects = new Set<string>();

  constructor(workers: JobRunner, places: Places) {
    this.#workers = workers;
    this.#places = places;
  }

  /** Notes a mount point that a job found; the next check examines it. */
  suspect(mount: string | undefined): void {
    if (mount !== undefined) this.#suspects.add(mount);
  }

  /** See `Folder.checkMounts`. */
  async check(): Promise<readonly ChangedMount[]> {
    // A btrfs subvolume is not in the kernel's list: it has to be asked for until it is accepted or gone.
    const suspects = new Set([...this.#suspects, ...this.#workers.mounts.foreign]);
    const changed = await this.#workers.run('checkMounts', [...suspects]);
    this.#suspects.clear();
    const foreign = changed.filter(({ isNew }) => isNew).map(({ path }) => path);
    this.#workers.mounts = { ...this.#workers.mounts, foreign };
    return changed;
  }

  /** See `Folder.acceptMount`. */
  async accept(path: string): Promise<void> {
    const now = await this.#workers.run('acceptMount', path);
    writeAccepted(this.#places.system, this.#places.state, now);
    // Read only now: a check, which does not wait for the folder lock, may have found others meanwhile.
    const { foreign } = this.#workers.mounts;
    this.#workers.mounts = { accepted: now, foreign: foreign.filter((other) => other !== path) };
  }
}
