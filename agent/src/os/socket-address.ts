import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** The longest address of a Unix socket, in bytes: the kernel has room for 108 with the NUL at the end. */
const addressBytesMax = 107;

/** A path under which a Unix socket can be bound or connected to. */
export interface SocketAddress {
  readonly path: string;
  /** Call it when the socket is bound and renamed, or the connection is open. */
  release(): Promise<void>;
}

/**
 * An address for the socket at `path`. A path that is too long is reached from its open directory: /proc/self/fd/N/NAME is short however
 * deep the folder is. Rejects with the error of open(2) if the directory is gone.
 */
export async function socketAddress(path: string): Promise<SocketAddress> {
  if (Buffer.byteLength(path) <= addressBytesMax) return { path, release: () => Promise.resolve() };
  const directory = await open(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: join('/proc/self/fd', String(directory.fd), basename(path)), release: () => directory.close() };
}
