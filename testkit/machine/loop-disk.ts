import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { run } from '../programs.ts';

const imageBytes = 256 * 1_048_576;
/** mkfs.xfs makes no smaller disk. */
const xfsBytes = 320 * 1_048_576;
/** The size of the pieces in which the image is searched. */
const pieceBytes = 8 * 1_048_576;

/**
 * Runs a command in the boot whose id is in the file `$0`. `$0-began`: the whole seconds for which this machine was up when that boot began. A
 * time namespace cannot begin in the future.
 */
const bootScript = `
  boot="unshare --time --boottime -$(cat "$0-began")"
  until $boot true 2>/dev/null; do sleep 0.02; done
  mount --bind "$0" /proc/sys/kernel/random/boot_id && exec $boot "$@"`;

/** The reason why no file can be mounted as a disk here; undefined if one can. */
export const loopDiskLacks: string | undefined = lacking();

/** As `loopDiskLacks`, for a disk with XFS. */
export const xfsDiskLacks: string | undefined =
  loopDiskLacks ??
  (spawnSync('sh', ['-c', 'command -v mkfs.xfs && modinfo xfs || grep -w xfs /proc/filesystems']).status === 0
    ? undefined
    : 'It needs mkfs.xfs, and a kernel with XFS.');

/** As `loopDiskLacks`, for a disk with btrfs, whose subvolumes can have quotas. */
export const btrfsDiskLacks: string | undefined =
  loopDiskLacks ??
  (spawnSync('sh', ['-c', 'command -v mkfs.btrfs btrfs && grep -w btrfs /proc/filesystems']).status === 0
    ? undefined
    : 'It needs mkfs.btrfs, btrfs, and a kernel with btrfs.');

function lacking(): string | undefined {
  const isRoot = process.getuid?.() === 0;
  const isThere = spawnSync('sh', ['-c', 'command -v losetup mkfs.ext4 debugfs && losetup -f']).status === 0;
  if (isRoot && isThere && hasTimeNamespaces()) return undefined;
  return 'It mounts a file as a disk: run it as root on a machine with loop devices, mkfs.ext4, debugfs, unshare and time namespaces.';
}

/** Whether the program that `unshare` starts gets the new time: an old kernel gives it to the children of that program alone. */
function hasTimeNamespaces(): boolean {
  const inside = spawnSync('sh', ['-c', 'unshare --time readlink /proc/self/ns/time'], { encoding: 'utf8' });
  return inside.status === 0 && inside.stdout.trim() !== readlinkSync('/proc/self/ns/time');
}

type FileSystem = 'ext4' | 'xfs' | 'btrfs';

/**
 * A disk in a file: ext4, or XFS or btrfs, whose files can share blocks. The power of one with ext4 can be cut, which drops everything that the
 * kernel has not written to the file. Its bytes can be changed below the file system.
 */
export class LoopDisk {
  readonly directory: string;
  readonly #image: string;
  readonly #bootId: string;
  readonly #fileSystem: FileSystem;
  #boots = 0;

  private constructor(place: string, fileSystem: FileSystem) {
    this.#fileSystem = fileSystem;
    this.directory = join(place, 'disk');
    this.#image = join(place, 'image');
    this.#bootId = join(place, 'boot-id');
  }

  /** Makes a disk in the directory `place` and mounts it. */
  static async make(place: string, fileSystem: FileSystem = 'ext4'): Promise<LoopDisk> {
    const disk = new LoopDisk(place, fileSystem);
    await mkdir(disk.directory, { recursive: true });
    await writeFile(disk.#image, '');
    await truncate(disk.#image, fileSystem === 'xfs' ? xfsBytes : imageBytes);
    await run(`mkfs.${fileSystem}`, ['-q', ...(fileSystem === 'ext4' ? ['-F'] : []), disk.#image]);
    await disk.#mount();
    return disk;
  }

  /** Cuts the power: `end` must end the processes that use the disk. Then the disk is mounted as it was before `end`. */
  async cutPower(end: () => Promise<void>): Promise<void> {
    const left = `${this.#image}.left`;
    // The image contains what the kernel has written to the disk, but not its dirty pages in memory.
    await run('cp', ['--sparse=always', this.#image, left]);
    await end();
    await run('umount', [this.directory]);
    await rename(left, this.#image);
    await this.#mount();
  }

  /** The wrapper command with which an agent sees another boot of the machine, which begins now. */
  async nextBoot(): Promise<readonly string[]> {
    this.#boots += 1;
    await writeFile(this.#bootId, `boot-${this.#boots}\n`);
    await writeFile(`${this.#bootId}-began`, `${Math.ceil(uptime())}\n`);
    return ['unshare', '--mount', 'sh', '-c', bootScript, this.#bootId];
  }

  /**
   * Changes the first letter of every `marker` on the disk, as failing memory cells do: no time of any file changes. `paths`, relative to
   * the directory, are the files that contain it. When this resolves, reads return the changed bytes, unless an agent has replaced the
   * file since, as one does that repairs it.
   */
  async rot(paths: readonly string[], marker: string): Promise<void> {
    await run('sync', ['-f', this.directory]);
    const files = await Promise.all(
      paths
        .map((relative) => join(this.directory, relative))
        .map(async (path) => ({ path, ino: (await stat(path)).ino })),
    );
    const image = await open(this.#image, 'r+');
    for (const at of await placesOf(image, marker)) {
      await image.write(Buffer.from([marker.charCodeAt(0) ^ 1]), 0, 1, at);
    }
    await image.sync();
    await image.close();
    for (const { path, ino } of files) {
      await eventually(async () => {
        // The kernel still has the old bytes in its page cache.
        await run('dd', [`if=${path}`, 'iflag=nocache', 'count=0', 'status=none']);
        const isReplaced = (await stat(path)).ino !== ino;
        assert.ok(isReplaced || !(await readFile(path)).includes(marker), `${path} is unchanged`);
      });
    }
  }

  /** Damages the inode of each path, which lstat(2) then refuses to describe. No process may use the disk. */
  async damageInodes(...paths: readonly string[]): Promise<void> {
    await run('umount', [this.directory]);
    for (const path of paths) await run('debugfs', ['-w', '-R', `sif /${path} checksum 0xdead`, this.#image]);
    await this.#mount();
  }

  async remove(): Promise<void> {
    await run('umount', ['-l', this.directory]);
    await rm(this.#image, { force: true });
  }

  async #mount(): Promise<void> {
    // The file system commits as late as it can.
    const options = this.#fileSystem === 'ext4' ? 'loop,commit=300' : 'loop';
    await run('mount', ['-o', options, this.#image, this.directory]);
  }
}

/** The offsets of a text in a file. */
async function placesOf(file: FileHandle, text: string): Promise<readonly number[]> {
  const found: number[] = [];
  const piece = Buffer.alloc(pieceBytes + text.length - 1);
  for (let from = 0; from < imageBytes; from += pieceBytes) {
    const { bytesRead } = await file.read(piece, 0, piece.length, from);
    const read = piece.subarray(0, bytesRead);
    for (let at = read.indexOf(text); at >= 0; at = read.indexOf(text, at + 1)) found.push(from + at);
  }
  return found;
}
