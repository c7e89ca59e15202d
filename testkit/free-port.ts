import { once } from 'node:events';
import { createServer } from 'node:net';

/** The range is below the kernel's ephemeral ports: no outgoing connection takes one of these before the test uses it. */
const lowest = 12_000;
const highest = 32_000;

/**
 * Test files run side by side, and each sees a port of a stopped member of another one as free: so each worker has ports of its own.
 */
const workersMax = 8;
const worker = Number(process.env.VITEST_POOL_ID ?? 0) % workersMax;

const given = new Set<number>();

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

/** An unused port of the loopback interface. Port 0 would not do, because a member keeps its port over restarts. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + workersMax * Math.floor((Math.random() * (highest - lowest)) / workersMax) + worker;
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}
