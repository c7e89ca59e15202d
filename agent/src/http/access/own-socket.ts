import { once } from 'node:events';
import { chmod, rename, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { LockstepError } from '@lockstep/shared';
import type { FastifyInstance } from 'fastify';
import { socketAddress } from '../../os/socket-address.ts';
import { requestTimeoutMs } from '../limits.ts';
import type { Access } from './access.ts';

/** A server of the API for the agent's own user. */
export interface OwnSocket {
  readonly server: Server;
  /** Removes the socket, stops listening, and resolves when its connections have ended. */
  close(): Promise<void>;
}

/**
 * Serves the API on the Unix socket at `path` as well, which only the user of this process can open. A connection there needs no login.
 * Rejects with 'folder-not-writable'.
 */
export async function serveOnSocket(app: FastifyInstance, access: Access, path: string): Promise<OwnSocket> {
  const server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) =>
    app.routing(request, response),
  );
  server.on('connection', (socket) => access.addOwnConnection(socket));
  // The live streams listen there.
  server.on('upgrade', (...upgrade) => app.server.emit('upgrade', ...upgrade));
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
  return {
    server,
    close: async () => {
      await rm(path, { force: true });
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      await closed;
    },
  };
}

/** Listens under a name of its own and then takes the place of a socket that a killed agent left. */
async function listenAt(server: Server, path: string): Promise<void> {
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
