import { once } from 'node:events';
import { chmod, rename, rm } from 'node:fs/promises';
import type { Server as HttpServer } from 'node:http';
import { createServer } from 'node:net';
import { LockstepError } from '@lockstep/shared';
import { socketAddress } from '../../os/socket-address.ts';
import type { Access } from './access.ts';

/**
 * Serves the API on the Unix socket at `path` as well, which only the user of this process can open. A connection there needs no login.
 * Returns a function that stops listening and removes the socket. Rejects with 'folder-not-writable'.
 */
export async function serveOnSocket(http: HttpServer, access: Access, path: string): Promise<() => Promise<void>> {
  // As the HTTP server's own connections: a client may end its side once it has sent the request.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    access.addOwnConnection(socket);
    http.emit('connection', socket);
  });
  try {
    await listenAt(server, path);
  } catch (cause) {
    server.close();
    const { code } = cause as NodeJS.ErrnoException;
    throw new LockstepError(
      'folder-not-writable',
      `The socket for commands cannot be made at ${path} (${code}). The folder must be on a file system of this machine that can hold ` +
        'sockets, and this user must be allowed to write in its .lockstep.',
      { cause },
    );
  }
  return async () => {
    server.close();
    await rm(path, { force: true });
  };
}

/** Listens under a name of its own and then takes the place of a socket that a killed agent left. */
async function listenAt(server: ReturnType<typeof createServer>, path: string): Promise<void> {
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  const address = await socketAddress(draft);
  try {
    server.listen(address.path);
    await once(server, 'listening');
    await chmod(draft, 0o600);
    await rename(draft, path);
  } finally {
    await address.release();
  }
}
