import {
  journeySchema,
  type LiveOperationsMessage,
  liveOperationsMax,
  liveOperationsMessageSchema,
} from '@lockstep/shared/api';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LiveApi, until, upTo } from '../../../test/support/live-api.ts';
import { contentOfText } from '../../sim/disk/content.ts';

let api: LiveApi;
let files: number;

/** The user writes files: one operation for each. */
function write(count: number): void {
  const user = api.served.cluster.user('ant');
  for (let file = 0; file < count; file++) user.write(`${++files}.txt`, 'x', contentOfText('x'));
}

const lastRow = (): number =>
  api.engine.context.journal.log.rows({ beforeRow: Number.MAX_SAFE_INTEGER, limit: 1 })[0]?.row ?? 0;

/** The first operation is that the member joined. */
beforeEach(async () => {
  api = await LiveApi.start();
  files = 0;
  write(4);
  await until(() => expect(lastRow()).toBe(5));
});

afterEach(() => api.stop());

const connect = (query: string) => api.connect(`ops/live${query}`, liveOperationsMessageSchema);

const rowsOf = (messages: readonly LiveOperationsMessage[]) =>
  messages.flatMap((message) => (message.type === 'operations' ? message.operations.map(({ row }) => row) : []));

describe('[JY1] live operations', () => {
  test('without a row: from now on', async () => {
    const { messages } = connect('');
    await until(() => expect(messages).toEqual([{ type: 'live', last: 5 }]));
    write(2);
    await until(() => expect(rowsOf(messages)).toEqual([6, 7]));
  });

  test('resume after a row, in batches within the limit, while more are journaled', async () => {
    write(2 * liveOperationsMax);
    await until(() => expect(lastRow()).toBe(5 + 2 * liveOperationsMax));
    const { socket, messages } = connect('?after=3');
    let more = 10;
    socket.on('message', () => {
      if (more-- > 0) write(7);
    });
    const last = 5 + 2 * liveOperationsMax + 70;
    await until(() => expect(rowsOf(messages).at(-1)).toBe(last));
    expect(rowsOf(messages)).toEqual(upTo(last, 4));
    await until(() => expect(messages.filter(({ type }) => type === 'live')).toHaveLength(1));
    for (const message of messages) {
      if (message.type === 'operations') expect(message.operations.length).toBeLessThanOrEqual(liveOperationsMax);
    }
  });

  test('a row from a journal that was lost since gets the number of the last row', async () => {
    const { messages } = connect('?after=5000');
    await until(() => expect(messages).toEqual([{ type: 'live', last: 5 }]));
    write(1);
    await until(() => expect(rowsOf(messages)).toEqual([6]));
  });

  test('a reader that disconnects is removed', async () => {
    const forgotten = vi.fn();
    vi.spyOn(api.engine.context.facts, 'onJournaled').mockReturnValue(forgotten);
    const { socket, messages } = connect('');
    await until(() => expect(messages).toHaveLength(1));
    expect(forgotten).not.toHaveBeenCalled();
    socket.close();
    await until(() => expect(forgotten).toHaveBeenCalledTimes(1));
  });

  test('operations that cannot be read end the stream, not the agent', async () => {
    // From now on its journal throws.
    api.served.ant.crash(true);
    const { socket } = connect('');
    expect(await new Promise((resolve) => socket.once('close', resolve))).toBe(1011);
    expect(api.served.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });
});

test('[JY2] the journey of an operation, and of one that does not exist', async () => {
  const ask = (operation: string) => api.fetch(`ops/${operation}`);
  const { origin } = api.engine.context.journal;
  const journey = journeySchema.parse(await (await ask(`${origin}/3`)).json());
  expect(journey).toMatchObject({ operation: { seq: 3, member: api.served.ant.id }, holding: 1, members: 1 });
  expect((await ask(`${origin}/6`)).status).toBe(404);
  expect((await ask('nobody/1')).status).toBe(404);
  expect((await ask(`${origin}/0`)).status).toBe(400);
});
