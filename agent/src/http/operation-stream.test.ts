import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  journeySchema,
  type LiveOperationsMessage,
  liveOperationsMax,
  liveOperationsMessageSchema,
} from '@lockstep/shared/api';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { FakeFacade, memoryLog } from '../../test/support/fake-facade.ts';
import { type HttpServer, startHttp } from './server.ts';

let assets: string;
let facade: FakeFacade;
let log: ReturnType<typeof memoryLog>;
let server: HttpServer;
let sockets: WebSocket[];

beforeEach(async () => {
  assets = await mkdtemp(join(tmpdir(), 'lockstep-operations-'));
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

function connect(query: string) {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}api/v1/ops/live${query}`);
  sockets.push(socket);
  const messages: LiveOperationsMessage[] = [];
  socket.on('message', (data) => messages.push(liveOperationsMessageSchema.parse(JSON.parse(String(data)))));
  socket.on('error', () => undefined);
  return { socket, messages };
}

const rowsOf = (messages: readonly LiveOperationsMessage[]) =>
  messages.flatMap((message) => (message.type === 'operations' ? message.operations.map(({ row }) => row) : []));

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe('[JY1] live operations', () => {
  test('without a row: from now on', async () => {
    const { messages } = connect('');
    await vi.waitFor(() => expect(messages).toEqual([{ type: 'live', last: 5 }]));
    facade.addOperations(2);
    await vi.waitFor(() => expect(rowsOf(messages)).toEqual([6, 7]));
  });

  test('resume after a row, in batches of which none is too large, while more are journaled', async () => {
    facade.addOperations(2 * liveOperationsMax);
    const { socket, messages } = connect('?after=3');
    let more = 10;
    socket.on('message', () => {
      if (more-- > 0) facade.addOperations(7);
    });
    const last = 5 + 2 * liveOperationsMax + 70;
    await vi.waitFor(() => expect(rowsOf(messages).at(-1)).toBe(last));
    expect(rowsOf(messages)).toEqual(upTo(last, 4));
    await vi.waitFor(() => expect(messages.filter(({ type }) => type === 'live')).toHaveLength(1));
    for (const message of messages) {
      if (message.type === 'operations') expect(message.operations.length).toBeLessThanOrEqual(liveOperationsMax);
    }
  });

  test('a row from a journal that was lost since is told the last one there is', async () => {
    const { messages } = connect('?after=5000');
    await vi.waitFor(() => expect(messages).toEqual([{ type: 'live', last: 5 }]));
    facade.addOperations(1);
    await vi.waitFor(() => expect(rowsOf(messages)).toEqual([6]));
  });

  test('a reader that goes is forgotten', async () => {
    const { socket, messages } = connect('');
    await vi.waitFor(() => expect(messages).toHaveLength(1));
    expect(facade.readers).toBe(1);
    socket.close();
    await vi.waitFor(() => expect(facade.readers).toBe(0));
  });

  test('operations that cannot be read end the stream, not the agent', async () => {
    const { socket, messages } = connect('');
    await vi.waitFor(() => expect(messages).toHaveLength(1));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    facade.operations = () => {
      throw new Error('the journal is closed');
    };
    facade.addOperations(1);
    expect(await closed).toBe(1011);
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });
});

test('[JY2] the journey of an operation, and that there is none', async () => {
  const ask = (operation: string) => fetch(`${server.url}api/v1/ops/${operation}`);
  const { origin } = facade.state.member;
  const journey = journeySchema.parse(await (await ask(`${origin}/3`)).json());
  expect(journey).toMatchObject({ operation: { seq: 3, path: 'notes/3.txt' }, holding: 2, members: 3 });
  expect((await ask(`${origin}/6`)).status).toBe(404);
  expect((await ask('nobody/1')).status).toBe(404);
  expect((await ask(`${origin}/0`)).status).toBe(400);
});
