import type { ContentId } from '@lockstep/shared';
import type { MountIdentity } from '../../fs/mounts/mount-identity.ts';
import { contentFileName, contentOfFileName } from '../../fs/read/content-id.ts';
import type { Content } from './content.ts';
import { Disk, type DiskImage, type DiskOptions } from './disk.ts';
import type { DiskErrorCode } from './disk-error.ts';
import type { Inode } from './inode.ts';

/** System calls of the agent that fail for a while. */
export interface CallFailures {
  readonly code: DiskErrorCode;
  /** The probability that a call fails, if it can fail with this code. */
  readonly chance: number;
}

/** A machine's file system and its present behaviour. It outlives the agent. */
export class Volume {
  readonly disk: Disk;
  /** Set while the folder's mount is gone: every observation returns `folder-missing`. */
  missing = false;
  /** Set while nothing can be written. statfs(2) shows a full disk; a quota shows only when it is reached. */
  full: 'disk' | 'quota' | undefined;
  failures: CallFailures | undefined;
  /** Roots of all file systems that were ever mounted inside the folder. */
  readonly devices: Inode[] = [];
  /** Set while one of them is hidden or not mounted: users wait for it. */
  isHidden = false;
  /** How often a mount hid something, or a disk was unmounted. */
  timesHidden = 0;

  constructor(options: DiskOptions) {
    this.disk = new Disk(options);
  }

  image(): DiskImage {
    return this.disk.image();
  }

  restore(image: DiskImage): void {
    this.disk.restore(image);
  }

  /** Every inode of the folder, including those of unmounted disks and those under mounts. */
  *inodes(): Generator<Inode> {
    const waiting = [this.disk.root, ...this.devices];
    for (let inode = waiting.pop(); inode !== undefined; inode = waiting.pop()) {
      yield inode;
      if (inode.children !== undefined) waiting.push(...inode.children.values());
    }
  }

  /** Paths in the folder whose mount differs from the accepted one, or is missing. */
  changedMounts(): readonly string[] {
    const { disk } = this;
    const file = disk.at('/state/mounts.json')?.content;
    if (file === undefined && !disk.hasMounts) return [];
    const accepted = file === undefined ? [] : (JSON.parse(new TextDecoder().decode(file.parts[0])) as MountIdentity[]);
    const known = new Map(accepted.map(({ path, fileSystemId }) => [path, fileSystemId]));
    const mounted = new Map<string, string>();
    for (const [path, { device }] of disk.entries()) {
      if (disk.isMountPoint(path)) mounted.set(path, String(device.number));
    }
    return [...new Set([...known.keys(), ...mounted.keys()])].filter((path) => known.get(path) !== mounted.get(path));
  }

  /** The replaced versions that the agent keeps. */
  get history(): ReadonlyMap<ContentId, Inode> {
    const kept = new Map<ContentId, Inode>();
    for (const shard of this.disk.at('/state/history')?.children?.values() ?? []) {
      for (const [name, inode] of shard.children ?? []) {
        const content = contentOfFileName(name);
        if (content !== undefined) kept.set(content, inode);
      }
    }
    return kept;
  }

  /** Adds a content to history by hand. */
  keep(content: Content): void {
    const name = contentFileName(content.id);
    const hash = name.slice(name.indexOf('-') + 1);
    const shard = `/state/history/${hash.slice(0, 2)}`;
    for (const directory of ['/state/history', shard]) {
      if (this.disk.at(directory) === undefined) this.disk.mkdir(directory, 0o700);
    }
    this.disk.write(`${shard}/${name}`, content, 0o600);
  }
}
