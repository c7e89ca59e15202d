import type { ContentId } from '@lockstep/shared';
import type { MountIdentity } from '../../fs/mounts/mounts.ts';
import { contentFileName, contentOfFileName } from '../../fs/read/content-id.ts';
import type { Content } from './content.ts';
import { Disk, type DiskImage, type DiskOptions } from './disk.ts';
import type { DiskErrorCode } from './disk-error.ts';
import type { Inode } from './inode.ts';

/** Calls of the agent that fail for a while. */
export interface CallFailures {
  readonly code: DiskErrorCode;
  /** How likely each call fails that can fail so. */
  readonly chance: number;
}

/** What a machine's file system holds and how it behaves at this moment. It outlives the agent. */
export class Volume {
  readonly disk: Disk;
  /** Set while the folder's mount is gone: every look answers `folder-missing`. */
  missing = false;
  /** Set while nothing more can be written: a full disk says so when it is asked, a quota only when it is reached. */
  full: 'disk' | 'quota' | undefined;
  failures: CallFailures | undefined;
  /** Roots of the file systems that were ever mounted inside the folder. */
  readonly devices: Inode[] = [];
  /** Set while one of them is not mounted, or hidden: users wait for it. */
  isHidden = false;
  /** How often a mount hid something, or a disk was taken away. */
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

  /** Every inode of the folder, those of disks that are not mounted and those under mounts too. */
  *inodes(): Generator<Inode> {
    const waiting = [this.disk.root, ...this.devices];
    for (let inode = waiting.pop(); inode !== undefined; inode = waiting.pop()) {
      yield inode;
      if (inode.children !== undefined) waiting.push(...inode.children.values());
    }
  }

  /** Where something else is mounted in the folder than the agent accepted, or nothing where it accepted something. */
  changedMounts(): readonly string[] {
    const { disk } = this;
    const file = disk.at('/state/mounts.json')?.content;
    if (file === undefined && !disk.hasMounts) return [];
    const accepted = file === undefined ? [] : (JSON.parse(new TextDecoder().decode(file.parts[0])) as MountIdentity[]);
    const known = new Map(accepted.map(({ path, blocks }) => [path, blocks]));
    const mounted = new Map<string, number>();
    for (const [path, { device }] of disk.entries()) if (disk.isMountPoint(path)) mounted.set(path, device.blocks);
    return [...new Set([...known.keys(), ...mounted.keys()])].filter((path) => known.get(path) !== mounted.get(path));
  }

  /** What the agent keeps of replaced versions. */
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

  /** Puts a content into history by hand. */
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
