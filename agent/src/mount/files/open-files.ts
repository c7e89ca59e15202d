import { isBelow, joinPath, nameOf, parentOf } from '@lockstep/shared';
import { MountError } from '../errno.ts';
import type { EntryStat } from '../ports/access.ts';
import { type FileParts, OpenFile, OpenHandle } from './open-file.ts';

/** For so long the kernel may take the name of a new file that could not be published for that of a file. */
const unpublishedLastsMs = 2_000;

/** The files that programs have open, by path and by handle. Programs that open the same path share its session. */
export class OpenFiles {
  readonly #parts: FileParts;
  /** By the path that the kernel knows, also of files that were removed. */
  readonly #byPath = new Map<string, OpenFile>();
  readonly #byHandle = new Map<number, OpenHandle>();
  /** The files that are being opened: programs that open one at the same time share its session. */
  readonly #opening = new Map<string, Promise<OpenFile>>();
  #lastHandle = 0;
  /** New files that could not be published a moment ago, and their modes. */
  readonly #unpublished = new Map<string, { readonly mode: number; readonly untilMs: number }>();

  constructor(parts: FileParts) {
    this.#parts = parts;
  }

  /** The open file at a path, if a program has it open. */
  at(path: string): OpenFile | undefined {
    const file = this.#byPath.get(path);
    // The file may be a conflict copy by now.
    return file?.path === undefined || file.path === path ? file : undefined;
  }

  /** The program that has a handle, and its file. Throws EBADF. */
  of(handle: number): OpenHandle {
    const opened = this.#byHandle.get(handle);
    if (opened === undefined) throw new MountError('EBADF');
    return opened;
  }

  /** Opens the file at a path. Returns its handle. `isRead`: only for reading. */
  async open(path: string, isRead = false): Promise<number> {
    const known = this.at(path) ?? (await this.#opening.get(path));
    if (known === undefined) return this.#open(path);
    // Counted before it is waited for: a close must not end the session meanwhile.
    const handle = this.#add(path, known);
    try {
      await known.refresh(isRead);
      return handle;
    } catch (error) {
      await this.release(handle);
      throw error;
    }
  }

  async #open(path: string): Promise<number> {
    const opened = OpenFile.existing(this.#parts, path);
    if (!(opened instanceof Promise)) return this.#add(path, opened);
    this.#opening.set(path, opened);
    try {
      return this.#add(path, await opened);
    } finally {
      this.#opening.delete(path);
    }
  }

  /**
   * As `open`, for a program that empties the file. A new file that could not be published is made again: the kernel did not ask for that,
   * because it remembers the name.
   */
  async openEmpty(path: string): Promise<number> {
    try {
      return await this.open(path);
    } catch (error) {
      const unpublished = this.#unpublished.get(path);
      const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!isAbsent || unpublished === undefined || performance.now() > unpublished.untilMs) throw error;
      return this.create(path, unpublished.mode);
    }
  }

  /** Makes a new file and opens it. */
  async create(path: string, mode: number): Promise<number> {
    this.#unpublished.delete(path);
    return this.#add(path, await OpenFile.created(this.#parts, path, mode));
  }

  /** Closes a handle. The session ends with the last one. */
  async release(handle: number): Promise<void> {
    const { file } = this.of(handle);
    this.#byHandle.delete(handle);
    file.handles--;
    if (file.handles > 0) return;
    try {
      await file.publish(false);
    } catch (error) {
      this.#noteUnpublished(file);
      throw error;
    } finally {
      // It may have been opened again while it was published.
      if (file.handles === 0) {
        for (const [path, each] of this.#byPath) if (each === file) this.#byPath.delete(path);
        await file.close();
      }
    }
  }

  /** The attributes of a file that has what is not published yet, or has no path any more; undefined for any other path. */
  stat(path: string): EntryStat | undefined {
    const file = this.at(path);
    return file !== undefined && (file.isDraft || file.path === undefined) ? file.stat() : undefined;
  }

  /** The size of the version that a program is reading at a path; undefined if none is. */
  sizeBeingRead(path: string): number | undefined {
    const file = this.at(path);
    return file?.isBeingRead === true ? file.stat().size : undefined;
  }

  /** The names of the new files of a directory that are not published yet. */
  newNames(directory: string): readonly string[] {
    return [...this.#byPath.values()].flatMap(({ path, isNew }) =>
      isNew && path !== undefined && parentOf(path) === directory ? [nameOf(path)] : [],
    );
  }

  /** True if a program has a file open that the kernel knows below a directory: also one that was removed, or is not published yet. */
  isOpenBelow(directory: string): boolean {
    return [...this.#byPath.keys()].some((path) => isBelow(path, directory));
  }

  /** The file at `path` has no path any more; the kernel calls it `hidden` until it is closed. */
  detach(path: string, hidden: string): void {
    const file = this.at(path);
    if (file === undefined) return;
    this.#byPath.delete(path);
    this.#byPath.set(hidden, file);
    file.path = undefined;
  }

  /** Forgets the kernel's name of a file that has no path any more. Returns false for any other. */
  forget(hidden: string): boolean {
    const file = this.#byPath.get(hidden);
    return file !== undefined && file.path === undefined && this.#byPath.delete(hidden);
  }

  /** An entry was renamed: what is open there or below it has its new path. */
  renamed(from: string, to: string): void {
    for (const [path, file] of [...this.#byPath]) {
      if (path !== from && !isBelow(path, from)) continue;
      const now = path === from ? to : joinPath(to, path.slice(from.length + 1));
      this.#byPath.delete(path);
      this.#byPath.set(now, file);
      if (file.path !== undefined) file.path = now;
    }
  }

  /** Publishes all that programs have open at a path or below it. */
  async publish(path: string): Promise<void> {
    for (const [each, file] of [...this.#byPath]) if (each === path || isBelow(each, path)) await file.publish(false);
  }

  /** Publishes everything, as at a close, and ends all sessions. Returns the paths of those that could not be published. */
  async closeAll(): Promise<readonly string[]> {
    const failed: string[] = [];
    for (const file of new Set(this.#byPath.values())) {
      await file.publish(true).catch(() => failed.push(file.path ?? ''));
      await file.close();
    }
    this.#byPath.clear();
    this.#byHandle.clear();
    return failed;
  }

  #noteUnpublished(file: OpenFile): void {
    const { path, isNew } = file;
    const nowMs = performance.now();
    for (const [each, { untilMs }] of this.#unpublished) if (untilMs < nowMs) this.#unpublished.delete(each);
    if (isNew && path !== undefined)
      this.#unpublished.set(path, { mode: file.stat().mode, untilMs: nowMs + unpublishedLastsMs });
  }

  #add(path: string, file: OpenFile): number {
    const handle = ++this.#lastHandle;
    this.#byPath.set(path, file);
    this.#byHandle.set(handle, new OpenHandle(file));
    file.handles++;
    return handle;
  }
}
