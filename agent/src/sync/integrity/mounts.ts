import { isBelow } from '@lockstep/shared';
import { isDirectoryMode, mayBeSameInode } from '../../core/entry.ts';
import type { ChangedMount } from '../ports/folder.ts';
import type { Context } from '../state/context.ts';

/**
 * Tracks the mounts inside the folder. A mount that appears or disappears is accepted if this member had no entries there. Any other
 * change is a problem of the mount point: nothing at or below it is read, written or deleted until the mount is as before, or until a
 * user accepts the change.
 */
export class Mounts {
  readonly #context: Context;
  /** Mount points that have the problem. */
  readonly #changed = new Map<string, string>();
  #checking: Promise<void> | undefined;

  constructor(context: Context) {
    this.#context = context;
    context.facts.second.on(() => this.#checkSoon());
  }

  /** Compares the mounts with the accepted ones. Resolves when that is done. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** Accepts the mount at `path`: entries that were there before and are missing now count as deleted. False if the path has no such problem. */
  async accept(path: string): Promise<boolean> {
    const { folder, lock } = this.#context;
    await this.check();
    if (!this.#changed.has(path)) return false;
    await lock.run(() => folder.acceptMount(path));
    await this.check();
    this.#context.facts.revealed.publish();
    return true;
  }

  /** Why entries at or below `path` cannot be seen, if a mount problem hides any of them. */
  reason(path: string): string | undefined {
    for (const [mount, detail] of this.#changed) {
      if (path === '' || mount === path || isBelow(mount, path) || isBelow(path, mount)) return detail;
    }
    return undefined;
  }

  #checkSoon(): void {
    const { problems, log } = this.#context;
    // A missing folder hides its mounts.
    if (problems.has('folder-missing')) return;
    this.check().catch((error: unknown) => {
      log.warn({ error: String(error) }, 'the mounts inside the folder could not be checked');
    });
  }

  async #check(): Promise<void> {
    const { folder, problems, log, hiding, ignored } = this.#context;
    let hasMoved = false;
    const now = new Set<string>();
    // A disk that was away between two checks hid paths that were examined meanwhile.
    const hidden = [...hiding].filter((path) => !ignored.ignores(path, true));
    hiding.clear();
    for (const mount of await folder.checkMounts()) {
      // Under the lock: no detection that began before may end after.
      if (this.#losesNothing(mount) && (await this.#isAccepted(mount.path))) {
        log.info({ path: mount.path }, 'a changed mount is accepted as part of the folder');
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
    if (hasMoved || hidden.some((path) => !now.has(path))) this.#context.facts.revealed.publish();
  }

  /** Accepts the mount at `path`. False if that could not be recorded, as on a full disk: the next check tries again. */
  async #isAccepted(path: string): Promise<boolean> {
    const { folder, lock, log } = this.#context;
    try {
      await lock.run(() => folder.acceptMount(path));
      return true;
    } catch (error) {
      log.warn({ path, error: String(error) }, 'a changed mount could not be accepted as part of the folder');
      return false;
    }
  }

  /** True if this member had no entries below the mount point, or recorded the mount point with this new mount in place. */
  #losesNothing({ path, isNew, ino, birthMs }: ChangedMount): boolean {
    const { journal } = this.#context;
    const fingerprint = journal.disk.at(path)?.fingerprint;
    if (isNew && fingerprint !== undefined && ino !== undefined) {
      if (mayBeSameInode(fingerprint, { ...fingerprint, ino, birthMs })) return true;
    }
    if (journal.disk.below(path, undefined, 1).length > 0) return false;
    return fingerprint === undefined || isDirectoryMode(fingerprint.mode);
  }
}
