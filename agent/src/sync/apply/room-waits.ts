import { freeBytesMin } from '@lockstep/shared';

/** A file for which there was no room. */
interface RoomWait {
  readonly bytes: number;
  /** The disk was measured since, and had too little room for it. */
  readonly lacked: boolean;
}

/**
 * The files for which the disk had no room. Each attempt to fetch one sends what has room, and drops it again: so attempts are rare, but one is
 * made as soon as the disk has room for the whole file. A quota may refuse a file for which the disk has room: that one only waits.
 */
export class RoomWaits {
  readonly #waits = new Map<string, RoomWait>();

  /** There was no room for the file at the path, which has so many bytes. `isMeasured`: the last measurement says so too. */
  add(path: string, bytes: number, isMeasured = false): void {
    const lacked = isMeasured || (this.#waits.get(path)?.lacked ?? false);
    this.#waits.set(path, { bytes, lacked });
  }

  delete(path: string): void {
    this.#waits.delete(path);
  }

  clear(): void {
    this.#waits.clear();
  }

  /** The disk has so many free bytes now. Returns the paths for which it has room since, and forgets them. */
  measured(freeBytes: number): readonly string[] {
    const freed: string[] = [];
    for (const [path, { bytes, lacked }] of this.#waits) {
      if (freeBytes - freeBytesMin < bytes) this.#waits.set(path, { bytes, lacked: true });
      else if (lacked) freed.push(path);
    }
    for (const path of freed) this.#waits.delete(path);
    return freed;
  }
}
