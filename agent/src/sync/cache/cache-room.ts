import { freeBytesMin } from '@lockstep/shared';
import { formatBytes } from '@lockstep/shared/present';
import { DraftRoom } from '../../core/cache/draft-room.ts';
import type { Fingerprint } from '../../core/entry.ts';
import type { DiskRoom } from '../ports/folder.ts';
import { Signal } from '../scheduling/signal.ts';
import type { Context } from '../state/context.ts';

/** The room for contents as a person sets it: bytes, or a part of the disk. */
export type CacheSize = { readonly bytes: number } | { readonly share: number };

/** A full cache is emptied to this part of its size at once, so that not every read searches for files to drop. */
const lowShare = 0.95;

/** Room that was reserved for a file that is to come. */
export interface Reserved {
  end(): void;
}

/** A file that is coming. */
interface Coming {
  readonly path: string;
  readonly bytes: number;
}

/** Counts the bytes that the contents of a member on demand take, and those that they may take. */
export class CacheRoom {
  readonly #context: Context;
  readonly #arrivedBytes: (path: string) => number;
  /** Files that are coming. */
  readonly #reserved = new Set<Coming>();
  readonly #drafts = new Set<DraftRoom>();
  /** There may be more room: a person raised the limit. */
  readonly raised = new Signal();
  #size: CacheSize;
  #diskBytes = Number.POSITIVE_INFINITY;
  /** Bytes that the contents may take, so that the disk keeps some free: as of its last measurement. */
  #bytesThatFit = Number.POSITIVE_INFINITY;

  /** `arrivedBytes`: the bytes of a file that is coming that are on the disk already. */
  constructor(context: Context, size: CacheSize, arrivedBytes: (path: string) => number) {
    this.#context = context;
    this.#size = size;
    this.#arrivedBytes = arrivedBytes;
  }

  /** Bytes that the contents may take, if other files leave the disk room for them. */
  get bytesMax(): number {
    return 'bytes' in this.#size ? this.#size.bytes : Math.floor(this.#diskBytes * this.#size.share);
  }

  /** Bytes that the contents may take now. */
  get roomBytes(): number {
    return Math.min(this.bytesMax, this.#bytesThatFit);
  }

  /** Bytes of the files that are here, of those that are coming, and of those that programs write through a mount. */
  get usedBytes(): number {
    let bytes = this.#context.journal.totals.counts().disk.bytes;
    for (const reserved of this.#reserved) bytes += reserved.bytes;
    return bytes + this.draftBytes;
  }

  /** Bytes that programs write through a mount. */
  get draftBytes(): number {
    let bytes = 0;
    const journaledAt = (path: string): Fingerprint | undefined => this.#context.journal.disk.at(path)?.fingerprint;
    for (const room of this.#drafts) bytes += room.countedBytes(journaledAt);
    return bytes;
  }

  /** True if room is reserved for a file. */
  get isReserved(): boolean {
    return this.#reserved.size > 0;
  }

  /** True if `bytes` more fit. */
  hasRoom(bytes: number): boolean {
    return this.usedBytes + bytes <= this.roomBytes;
  }

  /** True if `bytes` more fit, and a reader will not soon need a file to be dropped. */
  hasAmpleRoom(bytes: number): boolean {
    return this.usedBytes + bytes <= this.roomBytes * lowShare;
  }

  /** The bytes to which files are dropped for `bytes` more. */
  lowBytes(bytes: number): number {
    // A full disk gets some room at once, too.
    const fitting = this.#bytesThatFit - bytes - freeBytesMin;
    return Math.min(this.roomBytes - bytes, this.roomBytes * lowShare, fitting);
  }

  /** Sets another size. */
  limit(size: CacheSize): void {
    const before = this.bytesMax;
    this.#size = size;
    if (this.bytesMax > before) this.raised.publish();
  }

  /**
   * The disk was measured just now: files that were dropped since would count twice. If it has no inodes left, no file is dropped: a large one
   * frees only one of them.
   */
  measured({ freeBytes, totalBytes }: DiskRoom): void {
    this.#diskBytes = totalBytes;
    this.#bytesThatFit = Math.max(0, this.usedBytes - this.#missingBytes + freeBytes - freeBytesMin);
  }

  /** Reserves `bytes` for the file at `path`, whether there is room or not. */
  reserve(path: string, bytes: number): Reserved {
    const coming = { path, bytes };
    this.#reserved.add(coming);
    return { end: () => void this.#reserved.delete(coming) };
  }

  /** Room for what programs write through one mount: none yet. */
  openDrafts(): DraftRoom {
    const room = new DraftRoom();
    this.#drafts.add(room);
    return room;
  }

  closeDrafts(room: DraftRoom): void {
    this.#drafts.delete(room);
  }

  /** A sentence that says why there is no room for the file at `path`, and what to do. */
  fullReason(path: string, bytes: number): string {
    if (bytes > this.bytesMax)
      return `${path} has ${bytes} bytes, and the whole cache has room for ${this.bytesMax}: raise cache_size.`;
    if (this.#bytesThatFit < this.bytesMax)
      return `The disk of the folder has no room for ${path}, even without the files that other members have. Free some space.`;
    return (
      `There is no room for ${path}: what is in the cache must stay, because it is pinned, a copy that the cluster keeps here, being read, open in a program that writes to it, or on too few other members that answer. ` +
      'Raise cache_size, connect those that are away, unpin something, or ask for fewer copies.'
    );
  }

  /** As `fullReason`, for `bytes` more that a program writes to the file at `path` through a mount. */
  fullDraftReason(path: string, bytes: number): string {
    const all = this.draftBytes + bytes;
    const full =
      all > this.bytesMax
        ? `There is no room for ${path}: programs write ${formatBytes(all)} through the mount, and the whole cache has room for ${formatBytes(this.bytesMax)}. Raise cache_size.`
        : this.fullReason(path, bytes);
    const oldBytes = this.#context.journal.disk.at(path)?.fingerprint?.size ?? 0;
    const both = ` Its old version of ${formatBytes(oldBytes)} stays until the changed one is closed: a change needs room for both.`;
    return oldBytes > 0 ? full + both : full;
  }

  /** Bytes of the files that are coming that are not on the disk yet. */
  get #missingBytes(): number {
    let bytes = 0;
    for (const reserved of this.#reserved) bytes += Math.max(0, reserved.bytes - this.#arrivedBytes(reserved.path));
    return bytes;
  }
}
