import { fileBytesMax, parentOf } from '@lockstep/shared';
import { MountError } from '../errno.ts';
import type { Access, Draft, EntryStat, OpenVersion, Soon, VersionId } from '../ports/access.ts';
import { after } from '../soon.ts';

/** The parts of the mount that the session of a file uses. */
export interface FileParts {
  readonly access: Access;
  /** Informs a person that another version took the file's place, so that the session's one is at `copy`. */
  onConflict(path: string, copy: string): void;
}

/** The longest time between two reads of a program that is taken for one that reads on. */
const readingLastsMs = 1_000;

/** A program that has a file open. */
export class OpenHandle {
  readonly file: OpenFile;
  /** The version that the program has read or written, as the session counts them; undefined: none. */
  edition: number | undefined;

  constructor(file: OpenFile) {
    this.file = file;
  }
}

/**
 * A file that programs have open: one session for all of them. Until it is written to, it is one version of the file. Then it is a draft,
 * which no other program of the machine sees. The draft is published as one version when a program closes the file or calls fsync.
 */
export class OpenFile {
  readonly #parts: FileParts;
  /** Its path; undefined once it was removed or replaced. Its bytes stay until the last program closes it. */
  path: string | undefined;
  handles = 0;
  readonly #openedAt: string;
  #version: OpenVersion | undefined;
  #draft: Draft | undefined;
  /** The version that the draft replaces; undefined: nothing was there. */
  #base: VersionId | undefined;
  /** Closes the version that the draft replaces, and ends its stay. */
  #release: (() => void) | undefined;
  /** A draft with no byte yet, of a new file. */
  #isUntouched = false;
  /** Why the last write to the draft failed: it lacks bytes, and must not take the place of a version that has all. */
  #failure: { readonly error: unknown } | undefined;
  /** Counts the versions of other members that the session took. */
  #edition = 0;
  #readMs = -readingLastsMs;
  /** The last step that was begun: each waits for the one before. */
  #last: Promise<unknown> | undefined;

  private constructor(parts: FileParts, path: string) {
    this.#parts = parts;
    this.path = path;
    this.#openedAt = path;
  }

  /** A session of the file that is at `path`. */
  static existing(parts: FileParts, path: string): Soon<OpenFile> {
    const file = new OpenFile(parts, path);
    return after(parts.access.open(path), (version) => {
      file.#version = version;
      return file;
    });
  }

  /** A session of a file that is not there yet. */
  static async created(parts: FileParts, path: string, mode: number): Promise<OpenFile> {
    const file = new OpenFile(parts, path);
    file.#draft = await parts.access.draft(path, undefined, mode);
    file.#isUntouched = true;
    return file;
  }

  /** True while it holds what is not published yet. */
  get isDraft(): boolean {
    return this.#draft !== undefined;
  }

  /** True for a file that has never been at its path. */
  get isNew(): boolean {
    return this.#draft !== undefined && this.#base === undefined;
  }

  /** The version stays for a program that is about to read it. */
  expectRead(): void {
    this.#readMs = performance.now();
  }

  /** True while a program is reading it: that must find the end of its version. */
  get isBeingRead(): boolean {
    return this.#version !== undefined && performance.now() - this.#readMs < readingLastsMs;
  }

  stat(): EntryStat {
    return this.#opened().stat();
  }

  /** `by`: the program. It gets bytes of one version only. */
  read(buffer: Uint8Array, offset: number, by: OpenHandle): Promise<number> | number {
    return this.#step(() => {
      this.#checkEdition(by);
      by.edition = this.#edition;
      if (this.#version !== undefined) this.expectRead();
      return this.#opened().read(buffer, offset);
    });
  }

  write(bytes: Uint8Array, offset: number, by: OpenHandle): Promise<number> | number {
    return after(
      this.#write(bytes, () => offset, by),
      (length) => {
        by.edition = this.#edition;
        return length;
      },
    );
  }

  /** Writes at the end. */
  append(bytes: Uint8Array, by: OpenHandle): Promise<number> | number {
    return this.#write(bytes, (draft) => draft.stat().size, by);
  }

  #write(
    bytes: Uint8Array,
    offsetIn: (opened: OpenVersion | Draft) => number,
    by: OpenHandle,
  ): Promise<number> | number {
    return this.#step(() => {
      this.#checkEdition(by);
      checkSize(offsetIn(this.#opened()) + bytes.length);
      const draft = this.#draft;
      if (draft !== undefined) return this.#change(() => draft.write(bytes, offsetIn(draft)));
      return this.#begin().then((begun) => this.#change(() => begun.write(bytes, offsetIn(begun))));
    });
  }

  truncate(size: number, by?: OpenHandle): Promise<void> | void {
    return this.#step(() => {
      if (by !== undefined) this.#checkEdition(by);
      checkSize(size);
      const draft = this.#draft;
      if (draft !== undefined) return this.#change(() => draft.truncate(size));
      // Nothing of an old version is copied if nothing of it stays.
      return this.#begin(size === 0).then((begun) => this.#change(() => begun.truncate(size)));
    });
  }

  /** Fails a change that a program asked for with `error`. The draft lacks it then, as after any change that failed. */
  refuse(error: MountError): Promise<never> | never {
    const failing = (): never => {
      throw error;
    };
    return this.#step(() => (this.#draft === undefined ? failing() : (this.#change(failing) as never)));
  }

  setMode(mode: number): Promise<void> | void {
    return this.#step(() => this.#draft?.setMode(mode));
  }

  setTimes(atimeMs: number, mtimeMs: number): Promise<void> | void {
    return this.#step(() => this.#draft?.setTimes(atimeMs, mtimeMs));
  }

  /** Publishes the draft, if there is one. `isDurable`: it survives a power cut afterwards. */
  async publish(isDurable: boolean): Promise<void> {
    await this.#step(() => this.#publish(isDurable));
  }

  /** As `publish`, at a close(2). A new file into which nothing was written is not published yet: a shell closes a copy of it first. */
  async flush(): Promise<void> {
    if (!this.#isUntouched) await this.publish(false);
  }

  /**
   * Takes the version that has the path now, if the programs that have it open changed nothing. While one of them reads, the version stays
   * for another one that only reads (`isRead`): the kernel has one size and one set of pages for all.
   */
  async refresh(isRead: boolean): Promise<void> {
    await this.#step(async () => {
      if (this.path === undefined || this.#version === undefined || this.#draft !== undefined) return;
      if (isRead && this.isBeingRead && this.#version.isLocal) return;
      const { access } = this.#parts;
      const now = await access.open(this.path);
      try {
        const isSame = await access.isSame(this.path, this.#version, now);
        // If the version has left the disk since, its bytes are here all the same.
        if (isSame && (this.#version.isLocal || !now.isLocal)) return now.close();
        if (!isSame) this.#edition++;
      } catch (error) {
        now.close();
        throw error;
      }
      this.#version.close();
      this.#version = now;
    });
  }

  /** Ends the session. Unpublished writes are dropped. */
  async close(): Promise<void> {
    await this.#step(() => {
      this.#draft?.drop();
      this.#version?.close();
      this.#release?.();
      this.#draft = undefined;
      this.#version = undefined;
    });
  }

  /** Throws ESTALE for a program that has read or written another version: it must not mix the bytes of both. */
  #checkEdition({ edition }: OpenHandle): void {
    if (edition === undefined || edition === this.#edition) return;
    throw new MountError('ESTALE', `${this.#openedAt} has changed: open it again.`);
  }

  #opened(): OpenVersion | Draft {
    const opened = this.#draft ?? this.#version;
    if (opened === undefined) throw new RangeError('the session has ended');
    return opened;
  }

  /** Changes the draft. A program that goes on after an error has dealt with it, as a database does that rolls back. */
  #change<Result>(change: () => Soon<Result>): Soon<Result> {
    this.#isUntouched = false;
    const failed = (error: unknown): never => {
      this.#failure = { error };
      throw error;
    };
    try {
      const result = change();
      this.#failure = undefined;
      return result instanceof Promise ? result.catch(failed) : result;
    } catch (error) {
      return failed(error);
    }
  }

  /** Begins a draft of the version that is open. */
  async #begin(isEmpty = false): Promise<Draft> {
    if (this.#version === undefined) throw new RangeError('the session has ended');
    const { access } = this.#parts;
    if (this.path === undefined && !isEmpty && !this.#version.isLocal)
      throw new MountError('ESTALE', `${this.#openedAt} was removed before its content was here.`);
    // Without a path there is nothing to replace.
    const { opened, release } =
      this.path === undefined
        ? { opened: this.#version, release: () => undefined }
        : await access.keep(this.path, this.#version);
    this.#version = opened;
    try {
      const base = opened.version;
      const { mode } = opened.stat();
      const draft = await access.draft(this.#openedAt, isEmpty ? undefined : opened, mode);
      this.#base = base;
      this.#draft = draft;
      this.#version = undefined;
      // While it is open, the rename that replaces it need not wait for its blocks to be freed.
      this.#release = () => {
        release();
        opened.close();
      };
      return draft;
    } catch (error) {
      release();
      throw error;
    }
  }

  async #publish(isDurable: boolean): Promise<void> {
    const draft = this.#draft;
    if (draft === undefined) {
      if (isDurable) await this.#version?.sync();
      return;
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    if (isDurable) await draft.sync();
    const { path } = this;
    // No path is left for a file that was removed.
    if (path === undefined) return;
    const { access, onConflict } = this.#parts;
    const { opened, conflictPath } = await draft.publish(path, this.#base);
    this.#draft = undefined;
    this.#base = undefined;
    this.#isUntouched = false;
    this.#version = opened;
    this.#release?.();
    this.#release = undefined;
    if (isDurable) await access.syncDirectory(parentOf(conflictPath ?? path));
    if (conflictPath === undefined) return;
    this.path = conflictPath;
    onConflict(path, conflictPath);
  }

  /** Runs one step after the other. A step runs at once if none is under way: most of them take no time. */
  #step<Result>(step: () => Promise<Result> | Result): Promise<Result> | Result {
    if (this.#last === undefined) {
      const result = step();
      return result instanceof Promise ? this.#until(result) : result;
    }
    return this.#until(this.#last.then(step, step));
  }

  #until<Result>(running: Promise<Result>): Promise<Result> {
    const settled = running.then(
      () => undefined,
      () => undefined,
    );
    this.#last = settled;
    void settled.then(() => {
      if (this.#last === settled) this.#last = undefined;
    });
    return running;
  }
}

/** Throws EFBIG for a size that cannot be replicated. Nothing of the draft is lost by that, unlike by a write that fails. */
function checkSize(bytes: number): void {
  if (bytes > fileBytesMax) throw new MountError('EFBIG', `A file has at most ${fileBytesMax} bytes.`);
}
