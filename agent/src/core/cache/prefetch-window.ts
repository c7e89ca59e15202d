import { parentOf } from '@lockstep/shared';

/** Larger files are read for a while in any case, and each is a larger guess. */
const fileBytesMax = 1_048_576;
/** As much as a person looks through in one directory before they read on: a screen of thumbnails, the sources of a package. */
const filesMax = 64;
const bytesMax = 16 * 1_048_576;
/** The part of the cache that the unread files of one directory may take: what was read is worth more. */
const cacheShareMax = 1 / 16;
/** While fewer files than this part are read afterwards, fewer are prefetched. */
const readShareMin = 1 / 4;
/** Some are always tried: otherwise no hit could show that prefetching pays again. */
const filesMin = 4;
/** The last so many prefetched files decide, so that other habits count soon. */
const countedMax = 1_024;
/** Bounds the memory for unread files. The oldest ones are forgotten first. */
const unreadMax = 10_000;

/** A file that may be prefetched. */
export interface PrefetchCandidate {
  readonly path: string;
  readonly size: number;
}

/** Room for prefetched files. */
interface Room {
  files: number;
  bytes: number;
}

/**
 * Decides how many files are prefetched. In each directory a limited number of prefetched files may be unread: who reads one file gets its
 * neighbours once, who reads on gets the next ones, and who reads here and there gets no more. If few of them are read, the number shrinks.
 */
export class PrefetchWindow {
  /** The prefetched files that were not read yet, with their sizes. */
  readonly #unread = new Map<string, number>();
  readonly #directories = new Map<string, Room>();
  #prefetched = 0;
  #read = 0;

  /**
   * Chooses from `candidates`, the most promising first, what is prefetched after a read in `directory`. `cacheBytes`: the room of the whole
   * cache.
   */
  choose(directory: string, candidates: Iterable<PrefetchCandidate>, cacheBytes: number): readonly PrefetchCandidate[] {
    const room = this.#room(directory, cacheBytes);
    const chosen = new Map<string, PrefetchCandidate>();
    for (const candidate of candidates) {
      if (room.files <= 0 || room.bytes <= 0) break;
      const { path, size } = candidate;
      if (size === 0 || size > fileBytesMax || size > room.bytes || chosen.has(path)) continue;
      chosen.set(path, candidate);
      room.files--;
      room.bytes -= size;
    }
    return [...chosen.values()];
  }

  /** The file was prefetched. */
  prefetched({ path, size }: PrefetchCandidate): void {
    this.forget(path);
    this.#unread.set(path, size);
    this.#add(path, 1, size);
    this.#prefetched++;
    if (this.#prefetched > countedMax) {
      this.#prefetched /= 2;
      this.#read /= 2;
    }
    const [oldest] = this.#unread.keys();
    if (this.#unread.size > unreadMax && oldest !== undefined) this.forget(oldest);
  }

  /** The file was read. True if it was prefetched, and this is the first read since. */
  read(path: string): boolean {
    if (!this.forget(path)) return false;
    this.#read++;
    return true;
  }

  /** The file left the cache, or a reader had to fetch it after all. True if it was unread. */
  forget(path: string): boolean {
    const size = this.#unread.get(path);
    if (size === undefined) return false;
    this.#unread.delete(path);
    this.#add(path, -1, -size);
    return true;
  }

  #add(path: string, files: number, bytes: number): void {
    const directory = parentOf(path);
    const room = this.#directories.get(directory) ?? { files: 0, bytes: 0 };
    room.files += files;
    room.bytes += bytes;
    if (room.files > 0) this.#directories.set(directory, room);
    else this.#directories.delete(directory);
  }

  #room(directory: string, cacheBytes: number): Room {
    const unread = this.#directories.get(directory) ?? { files: 0, bytes: 0 };
    return {
      files: this.#filesMax() - unread.files,
      bytes: Math.min(bytesMax, Math.floor(cacheBytes * cacheShareMax)) - unread.bytes,
    };
  }

  #filesMax(): number {
    // A first directory full of files counts as read, until enough is known.
    const share = (this.#read + filesMax) / (this.#prefetched + filesMax);
    return Math.max(filesMin, Math.floor(filesMax * Math.min(1, share / readShareMin)));
  }
}
