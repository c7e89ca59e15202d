import { lstat, open, rename, rm, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes a file of the state directory so that a power cut leaves the old file or the new one. Only its owner can read it, unless `mode`
 * says otherwise. The first sync makes the bytes durable before the name; the second makes the name durable.
 */
export async function writeDurably(path: string, text: string, mode = 0o600): Promise<void> {
  const draft = `${path}.new`;
  try {
    // A kill may have left a draft. An open of a FIFO for writing would wait for a reader.
    await unlink(draft).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause;
    });
    const file = await open(draft, 'wx', mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** The same for a file that must not exist. Rejects with EEXIST if it does; the caller ensures that no other process makes it. */
export async function writeNewDurably(path: string, text: string, mode?: number): Promise<void> {
  const found = await lstat(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause;
  });
  if (found !== undefined) throw Object.assign(new Error(`EEXIST: ${path} exists already`), { code: 'EEXIST' });
  await writeDurably(path, text, mode);
}

/** Makes the names in a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
