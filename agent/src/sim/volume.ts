import type { ContentId } from '@lockstep/shared';
import { type Content, contentOfParts } from './content.ts';
import { Disk, type DiskImage, type Inode } from './disk.ts';
import { SimMounts } from './sim-mounts.ts';

/** The staged file of one content: the blocks that have arrived. */
export interface Staged {
  readonly size: number;
  readonly parts: (Uint8Array | undefined)[];
}

/** A volume as it was at one moment. */
export interface VolumeImage {
  readonly disk: DiskImage;
  readonly staging: ReadonlyMap<ContentId, Staged>;
}

/** What a machine's file system holds: the folder, and beside it the agent's staging and history. It outlives the agent. */
export class Volume {
  readonly disk: Disk;
  readonly staging = new Map<ContentId, Staged>();
  /** In the order in which they were kept. */
  readonly history = new Map<ContentId, Inode>();
  /** Set while the folder's mount is gone: every look answers `folder-missing`. */
  missing = false;
  /** Set while nothing more can be written. */
  full = false;
  readonly mounts: SimMounts;
  /** Roots of the file systems that were ever mounted inside the folder. */
  readonly devices: Inode[] = [];
  /** Set while one of them is not mounted, or hidden: users wait for it. */
  isHidden = false;
  /** How often a mount hid something, or a disk was taken away. */
  timesHidden = 0;

  constructor(wallMs: () => number, keepsBirths = true) {
    this.disk = new Disk(wallMs, keepsBirths);
    this.mounts = new SimMounts(this.disk);
  }

  image(): VolumeImage {
    const staging = new Map(
      [...this.staging].map(([content, { size, parts }]) => [content, { size, parts: [...parts] }]),
    );
    return { disk: this.disk.image(this.history), staging };
  }

  restore({ disk, staging }: VolumeImage): void {
    this.history.clear();
    for (const [content, inode] of this.disk.restore(disk)) this.history.set(content, inode);
    this.staging.clear();
    for (const [content, { size, parts }] of staging) this.staging.set(content, { size, parts: [...parts] });
  }

  /** The staged content, once every block of it is there. */
  staged(content: ContentId): Content | undefined {
    const staged = this.staging.get(content);
    if (staged === undefined) return undefined;
    const parts = staged.parts.filter((part) => part !== undefined);
    return parts.length === staged.parts.length ? contentOfParts(parts, staged.size) : undefined;
  }

  /** Every inode of the folder, those of disks that are not mounted and those under mounts too. */
  *inodes(): Generator<Inode> {
    const waiting = [this.disk.root, ...this.devices];
    for (let inode = waiting.pop(); inode !== undefined; inode = waiting.pop()) {
      yield inode;
      if (inode.children !== undefined) waiting.push(...inode.children.values());
    }
  }

  /** Gives an inode a second name in the history, unless that content is there already. */
  keep(content: ContentId, inode: Inode): void {
    if (this.history.has(content)) return;
    // What lies on another file system is copied there.
    const { device, content: held, mode } = inode;
    const kept = device === this.disk.device || held === undefined ? inode : this.disk.newFile(held, mode);
    this.history.set(content, this.disk.link(kept));
    this.disk.cache.log(() => this.history.delete(content));
  }

  /** Removes a content from the history. */
  forget(content: ContentId): void {
    const inode = this.history.get(content);
    if (inode === undefined) return;
    this.history.delete(content);
    this.disk.cache.log(() => this.history.set(content, inode));
    this.disk.release(inode);
  }
}
