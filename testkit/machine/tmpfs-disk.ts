import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LabDisk } from '../labs/lab.ts';
import { run, shell } from '../programs.ts';

/** Large enough for a journal and the files of a scene, and quick to fill. */
const sizeMiB = 48;

/** A small disk in memory. It is mounted in two places: the mount aside keeps it alive while it is detached from its mount point. */
export class TmpfsDisk implements LabDisk {
  readonly mountPoint: string;
  readonly #aside: string;

  private constructor(mountPoint: string, aside: string) {
    this.mountPoint = mountPoint;
    this.#aside = aside;
  }

  static async mount(root: string, name: string): Promise<TmpfsDisk> {
    const disk = new TmpfsDisk(join(root, `disk-of-${name}`), join(root, `aside-of-${name}`));
    for (const path of [disk.mountPoint, disk.#aside]) await mkdir(path);
    await run('mount', ['-t', 'tmpfs', '-o', `size=${sizeMiB}m,mode=755`, 'tmpfs', disk.#aside]);
    await disk.attach();
    return disk;
  }

  async fill(): Promise<void> {
    await shell(this.#aside, 'dd if=/dev/zero of=ballast bs=4k 2>/dev/null || true');
  }

  async free(): Promise<void> {
    await rm(join(this.#aside, 'ballast'));
  }

  async detach(): Promise<void> {
    await run('umount', ['-l', this.mountPoint]);
  }

  async attach(): Promise<void> {
    await run('mount', ['--bind', this.#aside, this.mountPoint]);
  }

  /** Unmounts it from both places, in whatever state it is. */
  async unmount(): Promise<void> {
    for (const path of [this.mountPoint, this.#aside]) await run('umount', ['-l', path]).catch(() => undefined);
  }
}
