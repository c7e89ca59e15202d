import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { PassThrough } from 'node:stream';
import fastify from 'fastify';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { arrivalTimeouts, arriving, limitArrival } from './arrival.ts';
import { requestTimeoutMs, unreadRestMs } from './limits.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A server with a route for JSON and one for files. The connection has sent the first byte of a body to one of them. */
async function beginRequest(path: string) {
  const app = fastify(arrivalTimeouts);
  onTestFinished(() => app.close());
  limitArrival(app);
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  let parsing = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    parsing = resolve;
  });
  app.addHook('preParsing', async (_request, _reply, payload) => {
    parsing();
    return payload;
  });
  app.post('/json', () => 'done');
  app.post('/refused', { config: { streamsBody: true } }, (_request, reply) => reply.code(412).send('refused'));
  app.post('/file', { config: { streamsBody: true } }, async ({ body }) => {
    for await (const _chunk of arriving(body as PassThrough, 2 * requestTimeoutMs));
    return 'done';
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  const type = path === '/json' ? 'application/json' : 'application/octet-stream';
  socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${type}\r\ncontent-length: 2\r\n\r\n{`);
  await begun;
  return socket;
}

test('a request that does not arrive in time loses its connection', async () => {
  const socket = await beginRequest('/json');
  const closed = once(socket, 'close');
  vi.advanceTimersByTime(requestTimeoutMs);
  await closed;
});

test('[FA6] a file that was refused before it was read loses its connection if its bytes go on', async () => {
  const socket = await beginRequest('/refused');
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 412 .*refused$/s);
  await vi.waitFor(() => {
    vi.advanceTimersByTime(unreadRestMs);
    expect(socket.closed).toBe(true);
  });
});

test('[FA6] a file that was refused before it was read keeps its connection if it soon ends', async () => {
  const socket = await beginRequest('/refused');
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 412 .*refused$/s);
  const answered = once(socket, 'data');
  socket.write('}POST /refused HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n');
  expect(String((await answered)[0])).toMatch(/^HTTP\/1.1 412 /);
  socket.destroy();
});

test('[FA6] a file may take longer, as long as its bytes come', async () => {
  const socket = await beginRequest('/file');
  vi.advanceTimersByTime(requestTimeoutMs + 1);
  const answered = once(socket, 'data');
  socket.write('}');
  expect(String((await answered)[0])).toMatch(/^HTTP\/1.1 200 .*done$/s);
  socket.destroy();
});

test('[FA6] a body whose bytes stop coming ends with an error', async () => {
  const body = new PassThrough();
  body.write('text');
  const chunks: string[] = [];
  await expect(async () => {
    for await (const chunk of arriving(body, 20)) chunks.push(String(chunk));
  }).rejects.toThrow('broke off, and nothing of it was put there');
  expect(chunks).toEqual(['text']);
  expect(body.destroyed).toBe(true);
});
