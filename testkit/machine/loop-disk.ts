import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { type FileHandle, mkdir, open, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { run } from '../programs.ts';

const imageBytes = 256 * 1_048_576;
/** The file is read in such pieces. */
const pieceBytes = 8 * 1_048_576;

/** Why no file can be mounted as a disk here; undefined where one can. */
export const loopDiskLacks: string | undefined = lacking();

function lacking(): string | undefined {
  const isRoot = process.getuid?.() === 0;
  const isThere = spawnSync('sh', ['-c', 'command -v losetup mkfs.ext4 unshare && losetup -f']).status === 0;
  if (isRoot && isThere) return undefined;
  return 'A file is mounted as a disk for it: run it as root, where there are loop devices, mkfs.ext4 and unshare.';
}

/**
 * An ext4 disk in a file. Its power can be cut: what the kernel has not written to the file is gone then. Its bytes can be changed behind the
 * file system's back.
 */
export class LoopDisk {
  readonly directory: string;
  readonly #image: string;
  readonly #bootId: string;
  #boots = 0;

  private constructor(place: string) {
    this.directory = join(place, 'disk');
    this.#image = join(place, 'image');
    this.#bootId = join(place, 'boot-id');
  }

  /** Makes a disk in the directory `place` and mounts it. */
  static async make(place: string): Promise<LoopDisk> {
    const disk = new LoopDisk(place);
    await mkdir(disk.directory, { recursive: true });
    await writeFile(disk.#image, '');
    await truncate(disk.#image, imageBytes);
    await run('mkfs.ext4', ['-q', '-F', disk.#image]);
    await disk.#mount();
    return disk;
  }

  /** Takes the power away: `end` must end what runs on the disk. Then the disk is mounted as it was at that moment. */
  async cutPower(end: () => Promise<void>): Promise<void> {
    const left = `${this.#image}.left`;
    // The file has what the kernel wrote to the disk, and not what it holds in memory for the mounted one.
    await run('cp', ['--sparse=always', this.#image, left]);
    await end();
    await run('umount', [this.directory]);
    await rename(left, this.#image);
    await this.#mount();
  }

  /** What must run an agent for it to see another boot of the machine. */
  async nextBoot(): Promise<readonly string[]> {
    this.#boots += 1;
    await writeFile(this.#bootId, `boot-${this.#boots}\n`);
    const script = 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"';
    return ['unshare', '--mount', 'sh', '-c', script, this.#bootId];
  }

  /**
   * Changes the first letter of `marker` wherever the disk holds it, as failing memory cells do: no time of any file moves. `paths`, relative
   * to the directory, are the files that hold it. They are read from the disk from then on.
   */
  async rot(paths: readonly string[], marker: string): Promise<void> {
    await run('sync', ['-f', this.directory]);
    const image = await open(this.#image, 'r+');
    for (const at of await placesOf(image, marker)) {
      await image.write(Buffer.from([marker.charCodeAt(0) ^ 1]), 0, 1, at);
    }
    await image.sync();
    await image.close();
    for (const path of paths.map((relative) => join(this.directory, relative))) {
      await eventually(async () => {
        // The kernel has the file in memory, and goes on giving out what it was.
        await run('dd', [`if=${path}`, 'iflag=nocache', 'count=0', 'status=none']);
        assert.ok(!(await readFile(path)).includes(marker), `${path} is as it was`);
      });
    }
  }

  async remove(): Promise<void> {
    await run('umount', ['-l', this.directory]);
    await rm(this.#image, { force: true });
  }

  async #mount(): Promise<void> {
    // The kernel writes back by itself as late as it can.
    await run('mount', ['-o', 'loop,commit=300', this.#image, this.directory]);
  }
}

/** Where in a file a text is. */
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
