import { isBelow } from '@lockstep/shared';
import { isDirectoryMode, mayBeSameInode } from '../../core/entry.ts';
import type { ChangedMount } from '../ports/folder.ts';
import type { Context } from '../state/context.ts';

/**
 * Follows the disks that are mounted inside the folder. A mount that comes or goes is accepted where this member showed nothing. Any
 * other change is a problem of the mount point: nothing at or below it is read, written or deleted until it is as before, or until a
 * person accepts it.
 */
export class Mounts {
  readonly #context: Context;
  /** Mount points that have the problem. */
  readonly #changed = new Map<string, string>();
  #checking: Promise<void> | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Compares the mounts with those that are known. Resolves when that is done. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** Makes what is at `path` now a part of the folder: what was there before and is not now counts as deleted. False without that problem. */
  async accept(path: string): Promise<boolean> {
    const { folder, lock } = this.#context;
    await this.check();
    if (!this.#changed.has(path)) return false;
    await lock.run(() => folder.acceptMount(path));
    await this.check();
    this.#context.facts.revealed.tell();
    return true;
  }

  /** Why nothing can be said of what is at or below `path`, if so. */
  reason(path: string): string | undefined {
    for (const [mount, detail] of this.#changed) {
      if (path === '' || mount === path || isBelow(mount, path) || isBelow(path, mount)) return detail;
    }
    return undefined;
  }

  async #check(): Promise<void> {
    const { folder, problems, log, hiding, ignored } = this.#context;
    let hasMoved = false;
    const now = new Set<string>();
    // A disk that was away for less than the time between two checks hid what was looked at meanwhile.
    const hidden = [...hiding].filter((path) => !ignored.ignores(path, true));
    hiding.clear();
    for (const mount of await folder.checkMounts()) {
      // Under the lock: no look that began before may end after.
      if (this.#losesNothing(mount) && (await this.#isAccepted(mount.path))) {
        log.info({ path: mount.path }, 'what is mounted here now is a part of the folder');
        hasMoved = true;
        continue;
      }
      if (ignored.ignores(mount.path, true)) continue;
      now.add(mount.path);
      this.#changed.set(mount.path, mount.detail);
      problems.set('mount-changed', { path: mount.path }, mount.detail);
    }
    for (const path of this.#changed.keys()) {
      if (now.has(path)) continue;
      this.#changed.delete(path);
      problems.clear('mount-changed', { path });
      hasMoved = true;
    }
    if (hasMoved || hidden.some((path) => !now.has(path))) this.#context.facts.revealed.tell();
  }

  /** True when this member showed nothing below the mount point, or recorded what it showed with this new mount in place. */
  /** False when that could not be written down, as on a full disk: it is tried again. */
  async #isAccepted(path: string): Promise<boolean> {
    const { folder, lock, log } = this.#context;
    try {
      await lock.run(() => folder.acceptMount(path));
      return true;
    } catch (error) {
      log.warn({ path, error: String(error) }, 'what is mounted here could not be made a part of the folder');
      return false;
    }
  }

  #losesNothing({ path, isNew, ino, birthMs }: ChangedMount): boolean {
    const { journal } = this.#context;
    const fingerprint = journal.disk(path)?.fingerprint;
    if (isNew && fingerprint !== undefined && ino !== undefined) {
      if (mayBeSameInode(fingerprint, { ...fingerprint, ino, birthMs })) return true;
    }
    if (journal.diskBelow(path, undefined, 1).length > 0) return false;
    return fingerprint === undefined || isDirectoryMode(fingerprint.mode);
  }
}
