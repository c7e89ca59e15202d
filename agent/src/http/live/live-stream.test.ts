import { type LiveMessage, liveMessageSchema } from '@lockstep/shared/api';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LiveApi, until, upTo } from '../../../test/support/live-api.ts';
import { eventsMax } from '../../store/events.ts';
import { liveStreamsMax } from '../limits.ts';

let api: LiveApi;
/** The events that the member itself has made: it started, and became active. */
let first: number;

beforeEach(async () => {
  api = await LiveApi.start();
  first = last();
});

afterEach(() => api.stop());

const last = (): number => api.engine.context.journal.events.lastNumber();

function addEvents(count: number): void {
  for (let event = 0; event < count; event++) api.engine.events.add('delivered', { event });
}

/** Adds enough events that the journal drops those up to this number. */
function forget(number: number): void {
  api.engine.context.journal.transaction(() => addEvents(eventsMax + number - last()));
}

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
    const { messages } = connect('');
    await until(() => expect(messages).toEqual([{ type: 'live', last: first }]));
    addEvents(2);
    await until(() => expect(numbersOf(messages)).toEqual([first + 1, first + 2]));
  });

  test('resume after a number: the old ones, then `live`, then the new ones', async () => {
    addEvents(5);
    const { messages } = connect(`?after=${first + 3}`);
    await until(() => expect(messages).toHaveLength(3));
    addEvents(1);
    await until(() => expect(messages).toHaveLength(4));
    expect(messages.map((message) => (message.type === 'event' ? message.event.number : message))).toEqual([
      first + 4,
      first + 5,
      { type: 'live', last: first + 5 },
      first + 6,
    ]);
  });

  test('no gap and no duplicate while many events come and readers come and go', async () => {
    addEvents(1_000);
    const seen: number[] = [];
    for (let round = 0; round < 5; round++) {
      const { socket, messages } = connect(`?after=${seen.at(-1) ?? 0}`);
      const wanted = seen.length + 300;
      socket.on('message', () => {
        if (last() < (round + 2) * 1_000) addEvents(3);
      });
      await until(() => expect(seen.length + numbersOf(messages).length).toBeGreaterThanOrEqual(wanted));
      socket.terminate();
      seen.push(...numbersOf(messages));
    }
    const { messages } = connect(`?after=${seen.at(-1)}`);
    await until(() => expect(messages.some(({ type }) => type === 'live')).toBe(true));
    addEvents(10);
    const total = last();
    await until(() => expect(seen.length + numbersOf(messages).length).toBe(total));
    expect([...seen, ...numbersOf(messages)]).toEqual(upTo(total));
  });

  test('a number that is too old is answered with the oldest event kept', async () => {
    forget(6);
    const { messages } = connect('?after=2');
    await until(() => expect(messages.at(-1)?.type).toBe('live'));
    expect(messages[0]).toEqual({ type: 'gap', oldest: 7 });
    expect(numbersOf(messages)).toEqual(upTo(last(), 7));
  });

  test('the number just before the oldest is no gap', async () => {
    forget(6);
    const { messages } = connect('?after=6');
    await until(() => expect(messages.at(-1)?.type).toBe('live'));
    expect(messages.some(({ type }) => type === 'gap')).toBe(false);
    expect(numbersOf(messages)).toEqual(upTo(last(), 7));
  });

  test('a number from a journal that was lost since starts from the oldest event', async () => {
    const { messages } = connect('?after=5000');
    await until(() => expect(messages.at(-1)?.type).toBe('live'));
    expect(messages[0]).toEqual({ type: 'gap', oldest: 1 });
    expect(numbersOf(messages)).toEqual(upTo(first));
  });

  test('a reader that disconnects is removed', async () => {
    const forgotten = vi.fn();
    vi.spyOn(api.engine.events, 'onAdded').mockReturnValue(forgotten);
    const { socket, messages } = connect('');
    await until(() => expect(messages).toHaveLength(1));
    expect(forgotten).not.toHaveBeenCalled();
    socket.close();
    await until(() => expect(forgotten).toHaveBeenCalledTimes(1));
  });

  test('when the agent stops, the streams are closed', async () => {
    const { socket, messages } = connect('');
    await until(() => expect(messages).toHaveLength(1));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await api.closeServer();
    expect(await closed).toBe(1001);
  });

  test('events that cannot be read end the stream, not the agent', async () => {
    // From now on its journal throws.
    api.served.ant.crash(true);
    const { socket } = connect('?after=0');
    expect(await new Promise((resolve) => socket.once('close', resolve))).toBe(1011);
    expect(api.served.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  test('a reader that sends too much is cut off', async () => {
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
