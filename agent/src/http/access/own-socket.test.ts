import { lstat, mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ServedCluster } from '../../../test/support/served-cluster.ts';
import { startHttp } from '../server.ts';
import { serveOnSocket } from './own-socket.ts';

async function serve(socketPath: string) {
  const served = await ServedCluster.open();
  const server = await startHttp({ ...served.options, socketPath });
  onTestFinished(() => server.close());
  served.cluster.begin();
  return server;
}

const statusAt = (socketPath: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, path: '/api/v1/status', agent: false }, (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode);
    });
    outgoing.once('error', reject);
    outgoing.end();
  });

test('[AC1] requests through the socket need no login, and its end removes it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'lockstep-socket-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'api.sock');
  const server = await serve(path);
  expect(server.socketPath).toBe(path);
  expect(await statusAt(path)).toBe(200);
  expect((await fetch(`${server.url}api/v1/status`)).status).toBe(401);
  await server.close();
  await expect(lstat(path)).rejects.toMatchObject({ code: 'ENOENT' });
});

// The kernel answers root there as a file system without sockets does.
test.runIf(process.getuid?.() === 0)(
  '[AC1] where the file system holds no sockets, it is in a directory of its own that only the user may open',
  async () => {
    const server = await serve('/sys/api.sock');
    const path = server.socketPath ?? '';
    expect(path.startsWith(process.env.XDG_RUNTIME_DIR || tmpdir())).toBe(true);
    expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await statusAt(path)).toBe(200);
    await server.close();
    await expect(lstat(dirname(path))).rejects.toMatchObject({ code: 'ENOENT' });
  },
);

test('[AC1] a FUSE program that makes a regular file instead is a file system that holds no sockets', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'lockstep-socket-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const app = { routing: () => undefined, server: createServer() };
  const listen = () => Promise.reject(Object.assign(new Error('listen EIO'), { code: 'EIO' }));
  const socket = await serveOnSocket(app, { addOwnConnection: () => undefined }, join(directory, 'api.sock'), listen);
  expect((await stat(socket.path)).isSocket()).toBe(true);
  expect(dirname(socket.path)).not.toBe(directory);
  await socket.close();
});

test('[AC1] a socket that cannot be made is an error that names its path', async () => {
  const served = await ServedCluster.open();
  const start = startHttp({ ...served.options, socketPath: '/nowhere/api.sock' });
  await expect(start).rejects.toMatchObject({
    code: 'folder-not-writable',
    message: expect.stringContaining('/nowhere/api.sock (EACCES)'),
  });
});
