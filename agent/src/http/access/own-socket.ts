import { once } from 'node:events';
import { chmod, mkdtemp, rename, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import type { FastifyInstance } from 'fastify';
import { socketAddress } from '../../os/socket-address.ts';
import { arrivalTimeouts } from '../arrival.ts';
import type { Access } from './access.ts';

/** A server of the API for the agent's own user. */
export interface OwnSocket {
  readonly server: Server;
  readonly path: string;
  /** Removes the socket, stops listening, and resolves when its connections have ended. */
  close(): Promise<void>;
}

/**
 * The errors of a file system that cannot hold sockets, such as vfat and some network file systems. A FUSE program for FAT or exFAT makes a
 * regular file instead, which the kernel answers with EIO.
 */
const noSockets = new Set(['EPERM', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS', 'EINVAL', 'EIO']);

/**
 * Serves the API on the Unix socket at `path` as well, which only the user of this process can open. A connection there needs no login. If
 * the file system of `path` cannot hold sockets, the socket is in a directory of its own of this user. Rejects with 'folder-not-writable'.
 */
export async function serveOnSocket(
  app: Pick<FastifyInstance, 'routing' | 'server'>,
  access: Pick<Access, 'addOwnConnection'>,
  path: string,
  listen: typeof listenAt = listenAt,
): Promise<OwnSocket> {
  const server = createServer(arrivalTimeouts, (request, response) => app.routing(request, response));
  server.on('connection', (socket) => access.addOwnConnection(socket));
  // The live streams listen there.
  server.on('upgrade', (...upgrade) => app.server.emit('upgrade', ...upgrade));
  try {
    const place = await listen(server, path).then(
      () => ({ path, remove: path }),
      (cause: NodeJS.ErrnoException) => {
        if (!noSockets.has(cause.code ?? '')) throw cause;
        return listenElsewhere(server);
      },
    );
    return {
      server,
      path: place.path,
      close: async () => {
        await rm(place.remove, { recursive: true, force: true });
        const closed = once(server, 'close');
        server.close();
        server.closeIdleConnections();
        await closed;
      },
    };
  } catch (cause) {
    server.close();
    const { code } = cause as NodeJS.ErrnoException;
    throw new LockstepError(
      'folder-not-writable',
      `The socket for commands cannot be made at ${path} (${code}). This user must be allowed to write in that directory.`,
      { cause },
    );
  }
}

/** Listens in a new directory that only this user may open. */
async function listenElsewhere(server: Server): Promise<{ readonly path: string; readonly remove: string }> {
  const parent = process.env.XDG_RUNTIME_DIR || tmpdir();
  const directory = await mkdtemp(join(parent, 'lockstep-'));
  const path = join(directory, 'api.sock');
  await listenAt(server, path);
  return { path, remove: directory };
}

/** Listens under a temporary name and then replaces the socket that a killed agent left. */
async function listenAt(server: Server, path: string): Promise<void> {
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  const address = await socketAddress(draft);
  try {
    server.listen(address.path);
    await once(server, 'listening');
    await chmod(draft, 0o600);
    await rename(draft, path);
  } catch (cause) {
    // It may be such a regular file.
    await rm(draft, { force: true });
    throw cause;
  } finally {
    await address.release();
  }
}
