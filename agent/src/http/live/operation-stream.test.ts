import {
  journeySchema,
  type LiveOperationsMessage,
  liveOperationsMax,
  liveOperationsMessageSchema,
} from '@lockstep/shared/api';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FakeFacade } from '../../../test/support/fake-facade.ts';
import { LiveApi, until, upTo } from '../../../test/support/live-api.ts';

let api: LiveApi;
let facade: FakeFacade;

beforeEach(async () => {
  api = await LiveApi.start();
  facade = api.facade;
});

afterEach(() => api.stop());

const connect = (query: string) => api.connect(`ops/live${query}`, liveOperationsMessageSchema);

const rowsOf = (messages: readonly LiveOperationsMessage[]) =>
  messages.flatMap((message) => (message.type === 'operations' ? message.operations.map(({ row }) => row) : []));

describe('[JY1] live operations', () => {
  test('without a row: from now on', async () => {
    const { messages } = connect('');
    await until(() => expect(messages).toEqual([{ type: 'live', last: 5 }]));
    facade.addOperations(2);
    await until(() => expect(rowsOf(messages)).toEqual([6, 7]));
  });

  test('resume after a row, in batches of which none is too large, while more are journaled', async () => {
    facade.addOperations(2 * liveOperationsMax);
    const { socket, messages } = connect('?after=3');
    let more = 10;
    socket.on('message', () => {
      if (more-- > 0) facade.addOperations(7);
    });
    const last = 5 + 2 * liveOperationsMax + 70;
    await until(() => expect(rowsOf(messages).at(-1)).toBe(last));
    expect(rowsOf(messages)).toEqual(upTo(last, 4));
    await until(() => expect(messages.filter(({ type }) => type === 'live')).toHaveLength(1));
    for (const message of messages) {
      if (message.type === 'operations') expect(message.operations.length).toBeLessThanOrEqual(liveOperationsMax);
    }
  });

  test('a row from a journal that was lost since is told the last one there is', async () => {
    const { messages } = connect('?after=5000');
    await until(() => expect(messages).toEqual([{ type: 'live', last: 5 }]));
    facade.addOperations(1);
    await until(() => expect(rowsOf(messages)).toEqual([6]));
  });

  test('a reader that goes is forgotten', async () => {
    const { socket, messages } = connect('');
    await until(() => expect(messages).toHaveLength(1));
    expect(facade.readers).toBe(1);
    socket.close();
    await until(() => expect(facade.readers).toBe(0));
  });

  test('operations that cannot be read end the stream, not the agent', async () => {
    const { socket, messages } = connect('');
    await until(() => expect(messages).toHaveLength(1));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    facade.operations = () => {
      throw new Error('the journal is closed');
    };
    facade.addOperations(1);
    expect(await closed).toBe(1011);
    expect(api.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });
});

test('[JY2] the journey of an operation, and that there is none', async () => {
  const ask = (operation: string) => fetch(api.url(`ops/${operation}`));
  const { origin } = facade.state.member;
  const journey = journeySchema.parse(await (await ask(`${origin}/3`)).json());
  expect(journey).toMatchObject({ operation: { seq: 3, path: 'notes/3.txt' }, holding: 2, members: 3 });
  expect((await ask(`${origin}/6`)).status).toBe(404);
  expect((await ask('nobody/1')).status).toBe(404);
  expect((await ask(`${origin}/0`)).status).toBe(400);
});
