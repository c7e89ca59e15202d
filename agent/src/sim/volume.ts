import type { ContentId } from '@lockstep/shared';
import { type Content, contentOfParts } from './content.ts';
import { Disk, type Inode } from './disk.ts';

/** The staged file of one content: the blocks that have arrived. */
export interface Staged {
  readonly size: number;
  readonly parts: (Uint8Array | undefined)[];
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

  constructor(wallMs: () => number) {
    this.disk = new Disk(wallMs);
  }

  /** The staged content, once every block of it is there. */
  staged(content: ContentId): Content | undefined {
    const staged = this.staging.get(content);
    if (staged === undefined) return undefined;
    const parts = staged.parts.filter((part) => part !== undefined);
    return parts.length === staged.parts.length ? contentOfParts(parts, staged.size) : undefined;
  }

  /** Gives an inode a second name in the history, unless that content is there already. */
  keep(content: ContentId, inode: Inode): void {
    if (this.history.has(content)) return;
    this.history.set(content, this.disk.link(inode));
  }

  /** Removes a content from the history. */
  forget(content: ContentId): void {
    const inode = this.history.get(content);
    if (inode === undefined) return;
    this.history.delete(content);
    this.disk.release(inode);
  }
}
