import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes a file of the state directory, readable by its owner alone, so that a power cut leaves the old one or the new one: without the
 * first sync the name would be durable before the bytes.
 */
export async function writeDurably(path: string, text: string): Promise<void> {
  const draft = `${path}.new`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncDirectory(dirname(path));
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
