import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** The range is below the kernel's ephemeral ports: no outgoing connection takes one of these before the test uses it. */
const lowest = 12_000;
const highest = 32_000;

/** The ports that this process has claimed, until it ends. */
const claims: Socket[] = [];

/**
 * Claims the number of a port for this process. Others would see the port of a stopped member as free. The claim is the UDP port of the
 * same number, which no agent uses: the kernel gives it to one process, and takes it back however that process ends.
 */
async function claim(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  try {
    socket.bind({ port, address: '127.0.0.1', exclusive: true });
    await once(socket, 'listening');
  } catch {
    return false;
  }
  claims.push(socket.unref());
  return true;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    if (server.listening) {
      server.close();
      await once(server, 'close');
    }
  }
}

/**
 * An unused port of the loopback interface that no other call returns, in any process of this machine. Port 0 would not do, because a
 * member keeps its port over restarts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if ((await claim(port)) && (await isFree(port))) return port;
  }
}
