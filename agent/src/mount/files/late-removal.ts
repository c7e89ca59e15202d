import { MountError } from '../errno.ts';
import type { Access, Draft, EntryStat, KeptVersion, NamedEntry, OpenVersion, Room, Soon } from '../ports/access.ts';
import { after } from '../soon.ts';

/** The library asks for the rename right after it hid the file, unless the machine is busy. */
const waitMs = 50;

/**
 * Entries of which an open file is removed a moment later. The library hides an open file before it is replaced by a rename, in the same way
 * as before it is removed. If the rename follows, the file stays until then: it is replaced in one step. Any other question about names
 * finds it removed.
 */
export class LateRemoval implements Access {
  readonly #access: Access;
  #leaving: { readonly path: string; readonly timer: ReturnType<typeof setTimeout> } | undefined;
  #removing: Promise<void> | undefined;

  constructor(access: Access) {
    this.#access = access;
  }

  /** Removes a file, unless `stay` is the next call. */
  removeSoon(path: string): Soon<void> {
    return this.#first(() =>
      after(this.#access.stat(path), ({ kind }) => {
        if (kind === 'directory') throw new MountError('EISDIR');
        this.#leaving = { path, timer: setTimeout(() => void this.#removed(), waitMs) };
      }),
    );
  }

  /** The file at `path` is not removed after all: it is about to be replaced. */
  stay(path: string): void {
    if (this.#leaving?.path === path) this.#take();
  }

  stat(path: string): Soon<EntryStat> {
    return this.#first(() => this.#access.stat(path));
  }

  shown(stat: EntryStat): EntryStat {
    return this.#access.shown(stat);
  }

  list(directory: string): Soon<readonly NamedEntry[]> {
    return this.#first(() => this.#access.list(directory));
  }

  linkText(path: string): string {
    return this.#access.linkText(path);
  }

  makeDirectory(path: string, mode: number): Soon<void> {
    return this.#first(() => this.#access.makeDirectory(path, mode));
  }

  makeLink(path: string, target: string): Soon<void> {
    return this.#first(() => this.#access.makeLink(path, target));
  }

  async setMode(path: string, mode: number): Promise<void> {
    await this.#first(() => this.#access.setMode(path, mode));
  }

  async setTimes(path: string, atimeMs: number, mtimeMs: number): Promise<void> {
    await this.#first(() => this.#access.setTimes(path, atimeMs, mtimeMs));
  }

  rename(from: string, to: string): Soon<void> {
    return this.#first(() => this.#access.rename(from, to));
  }

  removeFile(path: string): Soon<void> {
    return this.#first(() => this.#access.removeFile(path));
  }

  removeDirectory(path: string): Soon<void> {
    return this.#first(() => this.#access.removeDirectory(path));
  }

  async syncDirectory(path: string): Promise<void> {
    await this.#first(() => this.#access.syncDirectory(path));
  }

  open(path: string): Soon<OpenVersion> {
    return this.#first(() => this.#access.open(path));
  }

  isSame(path: string, opened: OpenVersion, now: OpenVersion): Soon<boolean> {
    return this.#access.isSame(path, opened, now);
  }

  keep(path: string, opened: OpenVersion): Soon<KeptVersion> {
    return this.#access.keep(path, opened);
  }

  async draft(
    path: string,
    from: OpenVersion | undefined,
    mode: number,
    beforeCopy?: () => Soon<void>,
  ): Promise<Draft> {
    return this.#first(() => this.#access.draft(path, from, mode, beforeCopy));
  }

  room(): Promise<Room> {
    return this.#access.room();
  }

  /** Resolves when nothing is to be removed any more. */
  async settled(): Promise<void> {
    await this.#removed();
  }

  /** Asks once what is leaving is removed. */
  #first<Result>(ask: () => Soon<Result>): Soon<Result> {
    const removed = this.#removed();
    return removed instanceof Promise ? removed.then(ask) : ask();
  }

  #removed(): Soon<void> {
    const path = this.#take();
    if (path === undefined) return this.#removing;
    // No program waits for it by now: a file that cannot be removed is simply there again.
    try {
      const removing = this.#access.removeFile(path);
      if (!(removing instanceof Promise)) return;
      const removed = removing
        .catch(() => undefined)
        .then(() => {
          if (this.#removing === removed) this.#removing = undefined;
        });
      this.#removing = removed;
      return removed;
    } catch {
      return;
    }
  }

  #take(): string | undefined {
    const leaving = this.#leaving;
    clearTimeout(leaving?.timer);
    this.#leaving = undefined;
    return leaving?.path;
  }
}
