import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LiveMessage, liveMessageSchema } from '@lockstep/shared/api';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { FakeFacade, memoryLog } from '../../test/support/fake-facade.ts';
import { liveStreamsMax } from './limits.ts';
import { type HttpServer, startHttp } from './server.ts';

let assets: string;
let facade: FakeFacade;
let log: ReturnType<typeof memoryLog>;
let server: HttpServer;
let sockets: WebSocket[];

beforeEach(async () => {
  assets = await mkdtemp(join(tmpdir(), 'lockstep-live-'));
  facade = new FakeFacade();
  log = memoryLog();
  sockets = [];
  server = await startHttp({ facade, log, assets, listen: { host: '127.0.0.1', port: 0 } });
});

afterEach(async () => {
  for (const socket of sockets) socket.terminate();
  await server.close();
  await rm(assets, { recursive: true, force: true });
});

function connect(query: string, headers: Record<string, string> = {}) {
  const url = `${server.url.replace('http', 'ws')}api/v1/events/live${query}`;
  const socket = new WebSocket(url, { headers });
  sockets.push(socket);
  const messages: LiveMessage[] = [];
  socket.on('message', (data) => messages.push(liveMessageSchema.parse(JSON.parse(String(data)))));
  socket.on('error', () => undefined);
  return { socket, messages };
}

const numbersOf = (messages: readonly LiveMessage[]) =>
  messages.flatMap((message) => (message.type === 'event' ? [message.event.number] : []));

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** The status with which an upgrade is refused. */
function refusal(query: string, headers?: Record<string, string>): Promise<number | undefined> {
  const { socket } = connect(query, headers);
  return new Promise((resolve, reject) => {
    socket.once('unexpected-response', (_request, response) => resolve(response.statusCode));
    socket.once('open', () => reject(new Error('was let in')));
  });
}

describe('[API2] live events', () => {
  test('without a number: from now on', async () => {
    facade.addEvents(5);
    const { messages } = connect('');
    await vi.waitFor(() => expect(messages).toEqual([{ type: 'live', last: 5 }]));
    facade.addEvents(2);
    await vi.waitFor(() => expect(numbersOf(messages)).toEqual([6, 7]));
  });

  test('resume after a number: the old ones, then `live`, then the new ones', async () => {
    facade.addEvents(5);
    const { messages } = connect('?after=3');
    await vi.waitFor(() => expect(messages).toHaveLength(3));
    facade.addEvents(1);
    await vi.waitFor(() => expect(messages).toHaveLength(4));
    expect(messages.map((message) => (message.type === 'event' ? message.event.number : message))).toEqual([
      4,
      5,
      { type: 'live', last: 5 },
      6,
    ]);
  });

  test('no gap and nothing twice while events pour in and readers come and go', async () => {
    facade.addEvents(1_000);
    const seen: number[] = [];
    for (let round = 0; round < 5; round++) {
      const { socket, messages } = connect(`?after=${seen.at(-1) ?? 0}`);
      const wanted = seen.length + 300;
      socket.on('message', () => {
        if (facade.all.length < (round + 2) * 1_000) facade.addEvents(3);
      });
      await vi.waitFor(() => expect(seen.length + numbersOf(messages).length).toBeGreaterThanOrEqual(wanted));
      socket.terminate();
      seen.push(...numbersOf(messages));
    }
    const { messages } = connect(`?after=${seen.at(-1)}`);
    await vi.waitFor(() => expect(messages.some(({ type }) => type === 'live')).toBe(true));
    facade.addEvents(10);
    const total = facade.all.length;
    await vi.waitFor(() => expect(seen.length + numbersOf(messages).length).toBe(total));
    expect([...seen, ...numbersOf(messages)]).toEqual(upTo(total));
  });

  test('a number that is too old is answered with what is still kept', async () => {
    facade.addEvents(10);
    facade.oldestEvent = 7;
    const { messages } = connect('?after=2');
    await vi.waitFor(() => expect(messages.at(-1)?.type).toBe('live'));
    expect(messages[0]).toEqual({ type: 'gap', oldest: 7 });
    expect(numbersOf(messages)).toEqual([7, 8, 9, 10]);
  });

  test('the number just before the oldest is no gap', async () => {
    facade.addEvents(10);
    facade.oldestEvent = 7;
    const { messages } = connect('?after=6');
    await vi.waitFor(() => expect(messages.at(-1)?.type).toBe('live'));
    expect(messages.some(({ type }) => type === 'gap')).toBe(false);
    expect(numbersOf(messages)).toEqual([7, 8, 9, 10]);
  });

  test('a number from a journal that was lost since starts anew', async () => {
    facade.addEvents(2);
    const { messages } = connect('?after=5000');
    await vi.waitFor(() => expect(messages.at(-1)?.type).toBe('live'));
    expect(messages[0]).toEqual({ type: 'gap', oldest: 1 });
    expect(numbersOf(messages)).toEqual([1, 2]);
  });

  test('a reader that goes is forgotten', async () => {
    const { socket, messages } = connect('');
    await vi.waitFor(() => expect(messages).toHaveLength(1));
    expect(facade.readers).toBe(1);
    socket.close();
    await vi.waitFor(() => expect(facade.readers).toBe(0));
  });

  test('when the agent stops the readers are told', async () => {
    const { socket, messages } = connect('');
    await vi.waitFor(() => expect(messages).toHaveLength(1));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await server.close();
    expect(await closed).toBe(1001);
  });

  test('events that cannot be read end the stream, not the agent', async () => {
    const { socket, messages } = connect('');
    await vi.waitFor(() => expect(messages).toHaveLength(1));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    facade.events = () => {
      throw new Error('the journal is closed');
    };
    facade.addEvents(1);
    expect(await closed).toBe(1011);
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  test('a reader that says more than nothing is cut off', async () => {
    const { socket, messages } = connect('');
    await vi.waitFor(() => expect(messages).toHaveLength(1));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.send('x'.repeat(2_000));
    expect(await closed).toBe(1009);
  });

  test('refused: another site’s page, a foreign name, a wrong number, one reader too many', async () => {
    expect(await refusal('', { origin: 'http://evil.example' })).toBe(403);
    expect(await refusal('', { host: 'evil.example' })).toBe(403);
    expect(await refusal('?after=x')).toBe(400);
    const readers = upTo(liveStreamsMax).map(() => connect(''));
    await vi.waitFor(() => expect(readers.every(({ messages }) => messages.length === 1)).toBe(true));
    expect(await refusal('')).toBe(503);
  });
});
