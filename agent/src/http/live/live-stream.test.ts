import { type LiveMessage, liveMessageSchema } from '@lockstep/shared/api';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FakeFacade } from '../../../test/support/fake-facade.ts';
import { LiveApi, until, upTo } from '../../../test/support/live-api.ts';
import { liveStreamsMax } from '../limits.ts';

let api: LiveApi;
let facade: FakeFacade;

beforeEach(async () => {
  api = await LiveApi.start();
  facade = api.facade;
});

afterEach(() => api.stop());

const connect = (query: string, headers?: Record<string, string>) =>
  api.connect(`events/live${query}`, liveMessageSchema, headers);

const numbersOf = (messages: readonly LiveMessage[]) =>
  messages.flatMap((message) => (message.type === 'event' ? [message.event.number] : []));

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
    await until(() => expect(messages).toEqual([{ type: 'live', last: 5 }]));
    facade.addEvents(2);
    await until(() => expect(numbersOf(messages)).toEqual([6, 7]));
  });

  test('resume after a number: the old ones, then `live`, then the new ones', async () => {
    facade.addEvents(5);
    const { messages } = connect('?after=3');
    await until(() => expect(messages).toHaveLength(3));
    facade.addEvents(1);
    await until(() => expect(messages).toHaveLength(4));
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
      await until(() => expect(seen.length + numbersOf(messages).length).toBeGreaterThanOrEqual(wanted));
      socket.terminate();
      seen.push(...numbersOf(messages));
    }
    const { messages } = connect(`?after=${seen.at(-1)}`);
    await until(() => expect(messages.some(({ type }) => type === 'live')).toBe(true));
    facade.addEvents(10);
    const total = facade.all.length;
    await until(() => expect(seen.length + numbersOf(messages).length).toBe(total));
    expect([...seen, ...numbersOf(messages)]).toEqual(upTo(total));
  });

  test('a number that is too old is answered with what is still kept', async () => {
    facade.addEvents(10);
    facade.oldestEvent = 7;
    const { messages } = connect('?after=2');
    await until(() => expect(messages.at(-1)?.type).toBe('live'));
    expect(messages[0]).toEqual({ type: 'gap', oldest: 7 });
    expect(numbersOf(messages)).toEqual([7, 8, 9, 10]);
  });

  test('the number just before the oldest is no gap', async () => {
    facade.addEvents(10);
    facade.oldestEvent = 7;
    const { messages } = connect('?after=6');
    await until(() => expect(messages.at(-1)?.type).toBe('live'));
    expect(messages.some(({ type }) => type === 'gap')).toBe(false);
    expect(numbersOf(messages)).toEqual([7, 8, 9, 10]);
  });

  test('a number from a journal that was lost since starts anew', async () => {
    facade.addEvents(2);
    const { messages } = connect('?after=5000');
    await until(() => expect(messages.at(-1)?.type).toBe('live'));
    expect(messages[0]).toEqual({ type: 'gap', oldest: 1 });
    expect(numbersOf(messages)).toEqual([1, 2]);
  });

  test('a reader that goes is forgotten', async () => {
    const { socket, messages } = connect('');
    await until(() => expect(messages).toHaveLength(1));
    expect(facade.readers).toBe(1);
    socket.close();
    await until(() => expect(facade.readers).toBe(0));
  });

  test('when the agent stops the readers are told', async () => {
    const { socket, messages } = connect('');
    await until(() => expect(messages).toHaveLength(1));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await api.closeServer();
    expect(await closed).toBe(1001);
  });

  test('events that cannot be read end the stream, not the agent', async () => {
    const { socket, messages } = connect('');
    await until(() => expect(messages).toHaveLength(1));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    facade.events = () => {
      throw new Error('the journal is closed');
    };
    facade.addEvents(1);
    expect(await closed).toBe(1011);
    expect(api.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  test('a reader that says more than nothing is cut off', async () => {
    const { socket, messages } = connect('');
    await until(() => expect(messages).toHaveLength(1));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.send('x'.repeat(2_000));
    expect(await closed).toBe(1009);
  });

  test('refused: another site’s page, a foreign name, a wrong number, one reader too many', async () => {
    expect(await refusal('', { origin: 'http://evil.example' })).toBe(403);
    expect(await refusal('', { host: 'evil.example' })).toBe(403);
    expect(await refusal('?after=x')).toBe(400);
    const readers = upTo(liveStreamsMax).map(() => connect(''));
    await until(() => expect(readers.every(({ messages }) => messages.length === 1)).toBe(true));
    expect(await refusal('')).toBe(503);
  });
});
