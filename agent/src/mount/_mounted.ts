import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { errnoOf } from './errno.ts';
import { LateRemoval } from './files/late-removal.ts';
import { OpenFiles } from './files/open-files.ts';
import { FolderAccess } from './folder/folder-access.ts';
import { Handlers } from './fuse/handlers.ts';

/** A folder of a test, with the handlers of a mount over it, but without a kernel. */
export class MountedFolder {
  readonly root = mkdtempSync(join(tmpdir(), 'lockstep-mount-'));
  readonly folder = join(this.root, 'folder');
  readonly drafts = join(this.folder, '.lockstep/mount');
  readonly files: OpenFiles;
  readonly handlers: Handlers;
  /** Each conflict, as it was reported. */
  readonly conflicts: { readonly path: string; readonly copy: string }[] = [];
  #drafts = 0;

  constructor() {
    mkdirSync(this.drafts, { recursive: true });
    const newPath = (): string => join(this.drafts, String(++this.#drafts));
    const folder = new FolderAccess(this.folder, { folder: this.folder, member: 'ant', newPath, nowMs: Date.now });
    const access = new LateRemoval(folder);
    this.files = new OpenFiles({ access, onConflict: (path, copy) => this.conflicts.push({ path, copy }) });
    const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    this.handlers = new Handlers({ access, files: this.files, owner });
  }

  /** The path of an entry in the folder. */
  at(path: string): string {
    return join(this.folder, path);
  }

  async write(handle: number, text: string, offset = 0): Promise<void> {
    await this.handlers.write(handle, Buffer.from(text), offset);
  }

  async read(handle: number, offset = 0, length = 1_000): Promise<string> {
    const buffer = Buffer.alloc(length);
    return buffer.toString('utf8', 0, await this.handlers.read(handle, buffer, offset));
  }

  /** As close(2): the kernel asks for both. */
  async close(handle: number): Promise<void> {
    await this.handlers.flush(handle);
    await this.handlers.release(handle);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** The error that a request ends with. */
export async function errorOf(request: () => unknown): Promise<string | undefined> {
  try {
    await request();
    return undefined;
  } catch (error) {
    return Object.entries(constants.errno).find(([, number]) => number === -errnoOf(error))?.[0];
  }
}
