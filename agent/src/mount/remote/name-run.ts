import type { RemoteEntry } from './remote-files.ts';

/** Reads the entries whose names come after this one: a page of them. */
type ReadPage = (after: string) => Promise<readonly RemoteEntry[]>;

/**
 * The look-ups of names in a directory that is too large for one list. `ls -l` and `find` look up one name after the other: the entries that
 * follow are read ahead, a page at a time, and are trusted for as long as a list.
 */
export class NameRun {
  readonly #readPage: ReadPage;
  readonly #lastsMs: number;
  #last: string | undefined;
  #untilMs = 0;
  #entries: Promise<Map<string, RemoteEntry>> | undefined;

  constructor(readPage: ReadPage, lastsMs: number) {
    this.#readPage = readPage;
    this.#lastsMs = lastsMs;
  }

  /** The entry of the name, if it was read ahead. */
  async ahead(name: string): Promise<RemoteEntry | undefined> {
    if (this.#entries === undefined || performance.now() >= this.#untilMs) return undefined;
    return (await this.#entries).get(name);
  }

  /** Notes that the name had to be asked for, and reads what follows if it comes after the one before. */
  missed(name: string): void {
    const isNext = this.#last !== undefined && name > this.#last;
    this.#last = name;
    if (!isNext) return;
    this.#untilMs = performance.now() + this.#lastsMs;
    // Without them each name is asked for, which reports the error.
    this.#entries = this.#readPage(name).then(
      (entries) => new Map(entries.map((entry) => [entry.name, entry])),
      () => new Map(),
    );
  }

  /** The entry was changed, or is gone: it is asked for. */
  forget(name: string): void {
    this.#entries = this.#entries?.then((entries) => {
      entries.delete(name);
      return entries;
    });
  }
}
