import { createServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { afterTest, ant, bee, openTestNetwork } from '../../test/support/networks.ts';

describe('dialling', () => {
  async function openPlainServer(serve: (socket: Socket) => void): Promise<string> {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      afterTest(() => {
        socket.destroy();
      });
      serve(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    afterTest(() => new Promise((resolve) => server.close(() => resolve())));
    const bound = server.address();
    if (bound === null || typeof bound === 'string') throw new Error('no port');
    return `127.0.0.1:${bound.port}`;
  }

  test.each([
    ['localhost', 'config-invalid', 'write host:port'],
    ['localhost:0', 'config-invalid', 'write host:port'],
    ['a b:7000', 'config-invalid', 'write host:port'],
    ['::1:7000', 'config-invalid', 'write host:port'],
    ['no-such-host.invalid:7000', 'unreachable', 'name'],
  ])('%s: %s', async (address, code, says) => {
    const a = await openTestNetwork(ant);
    await expect(a.network.dial(address)).rejects.toMatchObject({ code, message: expect.stringContaining(says) });
  });

  test('a port on which no program listens', async () => {
    const a = await openTestNetwork(ant);
    const b = await openTestNetwork(bee);
    await b.network.close();
    await expect(a.network.dial(b.address)).rejects.toMatchObject({
      code: 'unreachable',
      message: `No session with ${b.address}: no program listens there: is lockstep up running on it, and is the port right?`,
    });
  });

  test.each<[string, (socket: Socket) => void]>([
    ['hangs up', (socket) => socket.destroy()],
    ['speaks something else', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')],
    ['speaks plain HTTP', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('a port whose program %s', async (_what, serve) => {
    const a = await openTestNetwork(ant);
    const address = await openPlainServer(serve);
    await expect(a.network.dial(address)).rejects.toMatchObject({
      code: 'handshake-failed',
      message: expect.stringContaining('Does a Lockstep member listen there?'),
    });
  });

  test('a port that does not answer', async () => {
    const a = await openTestNetwork(ant, { handshakeTimeoutMs: 100 });
    const address = await openPlainServer(() => {});
    await expect(a.network.dial(address)).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('did not answer within 0.1 s'),
    });
  });

  test('a dial is given up when the network closes', async () => {
    const a = await openTestNetwork(ant);
    const address = await openPlainServer(() => {});
    const dialling = a.network.dial(address);
    const result = expect(dialling).rejects.toMatchObject({ code: 'unreachable' });
    await a.network.close();
    await result;
  });
});
