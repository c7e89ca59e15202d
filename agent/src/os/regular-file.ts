import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/**
 * The text of the file at `path`. `readFile` would wait without end for a writer if a FIFO has the file's name. This rejects with EISDIR for
 * a directory. For any other entry it rejects with ENXIO, which open(2) gives for a socket.
 */
export async function readRegularFile(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile() && !stats.isDirectory()) {
      throw Object.assign(new Error(`ENXIO: ${path} is not a regular file`), { code: 'ENXIO' });
    }
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
