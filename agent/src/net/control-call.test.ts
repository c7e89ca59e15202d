import { createServer } from 'node:https';
import type { ControlAnswer, ControlRequest } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { afterTest, ant, bee, openTestNetwork, until } from '../../test/support/networks.ts';
import { createClusterKey } from './keys/cluster-key.ts';
import { controlBytesMax } from './limits.ts';
import { controlPath, secureContextOptions } from './tls-options.ts';

const look: ControlRequest = { do: 'look' };

/** ant and bee, which answers as told, and remembers who asked what. */
async function openTwo(answer: (request: ControlRequest) => Promise<ControlAnswer>) {
  const [a, b] = [await openTestNetwork(ant), await openTestNetwork(bee)];
  const asked: unknown[] = [];
  b.network.onControl((peer, request) => {
    asked.push([peer, request]);
    return answer(request);
  });
  return { a, b, asked };
}

test('a request is answered once, over a connection that is no session', async () => {
  const { a, b, asked } = await openTwo(async () => ({ done: { allows: 'none', paused: true } }));
  expect(await a.network.control(b.address, bee.memberId, look)).toEqual({ done: { allows: 'none', paused: true } });
  expect(asked).toEqual([[ant.memberId, look]]);
  expect(b.links).toEqual([]);
});

test('a refusal is an answer', async () => {
  const refused = { code: 'control-refused', message: 'bee does not.', version: 'v' };
  const { a, b } = await openTwo(async () => ({ refused }));
  expect(await a.network.control(b.address, bee.memberId, { do: 'pause' })).toEqual({ refused });
});

test.each<[string, () => Promise<ControlAnswer>, string]>([
  ['a failure', () => Promise.reject(new Error('broken')), 'It failed to do it, and its log says why.'],
  [
    'an answer that is none',
    () => Promise.resolve('text' as unknown as ControlAnswer),
    'whether it was done is not known',
  ],
  [
    'an answer that is too large',
    async () => ({ done: 'x'.repeat(controlBytesMax) }),
    'whether it was done is not known',
  ],
])('%s at the other member: it was asked, and did not answer', async (_what, answer, says) => {
  const { a, b, asked } = await openTwo(answer);
  await expect(a.network.control(b.address, bee.memberId, look)).rejects.toMatchObject({
    code: 'control-unanswered',
    message: expect.stringContaining(says),
  });
  expect(asked).toHaveLength(1);
});

test('a request that the other member does not know says so', async () => {
  const { a, b, asked } = await openTwo(async () => ({ done: true }));
  const unknown = { do: 'dance' } as unknown as ControlRequest;
  await expect(a.network.control(b.address, bee.memberId, unknown)).rejects.toMatchObject({
    code: 'control-unanswered',
    message: 'It does not know this request: bring both members to the same version of Lockstep.',
  });
  expect(asked).toEqual([]);
});

test('another member at the address is not asked', async () => {
  const { a, b, asked } = await openTwo(async () => ({ done: true }));
  await expect(a.network.control(b.address, 'x'.repeat(52) as typeof bee.memberId, look)).rejects.toMatchObject({
    code: 'unreachable',
    message: `Another member answers at ${b.address}.`,
  });
  expect(asked).toEqual([]);
});

test('a member of another cluster is not asked', async () => {
  const { b, asked } = await openTwo(async () => ({ done: true }));
  const stranger = await openTestNetwork(ant, { clusterKey: createClusterKey() });
  await expect(stranger.network.control(b.address, bee.memberId, look)).rejects.toMatchObject({
    code: 'cluster-mismatch',
  });
  expect(asked).toEqual([]);
});

test('a member whose version has no such path is named as older', async () => {
  const server = createServer(secureContextOptions(bee));
  server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterTest(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.address() as { port: number };
  const a = await openTestNetwork(ant);
  await expect(a.network.control(`127.0.0.1:${port}`, bee.memberId, look)).rejects.toMatchObject({
    code: 'protocol-mismatch',
    message: expect.stringContaining('is an older Lockstep, which no other member can control, or none'),
  });
});

test('a network that closes ends what is asked of it', async () => {
  const { a, b, asked } = await openTwo(() => new Promise(() => {}));
  const asking = expect(a.network.control(b.address, bee.memberId, look)).rejects.toMatchObject({
    code: 'control-unanswered',
  });
  await until(() => expect(asked).toHaveLength(1));
  await b.network.close();
  await asking;
});

test('a stranger without a proof is cut off, as on the path of sessions', async () => {
  const { b, asked } = await openTwo(async () => ({ done: true }));
  const socket = new WebSocket(`wss://${b.address}${controlPath}`, {
    ...secureContextOptions(ant),
    rejectUnauthorized: false,
  });
  socket.on('error', () => {});
  socket.on('open', () => socket.send(JSON.stringify(look)));
  const code = await new Promise((resolve) => socket.once('close', resolve));
  expect(code).toBe(4005);
  expect(asked).toEqual([]);
});
