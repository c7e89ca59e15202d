import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LiveApi, until, upTo } from '../../test/support/live-api.ts';
import { contentOfText } from '../sim/disk/content.ts';
import { followOperations } from './followed-operations.ts';

let directory: string;
let api: LiveApi;
let stop: AbortController;
let files: number;
let rows: number[];
const interrupted = vi.fn();

/** The user writes files: one operation for each. */
function write(count: number): void {
  const user = api.served.cluster.user('ant');
  for (let file = 0; file < count; file++) user.write(`${++files}.txt`, 'x', contentOfText('x'));
}

const lastRow = (): number =>
  api.engine.context.journal.log.rows({ beforeRow: Number.MAX_SAFE_INTEGER, limit: 1 })[0]?.row ?? 0;

/** The first operation is that the member joined. */
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'followed-'));
  api = await LiveApi.start({ socketPath: join(directory, 'api.sock') });
  stop = new AbortController();
  files = 0;
  rows = [];
  interrupted.mockClear();
  write(4);
  await until(() => expect(lastRow()).toBe(5));
});

afterEach(async () => {
  stop.abort();
  await api.stop();
  await rm(directory, { recursive: true });
});

const follow = (after: number): Promise<void> =>
  followOperations({
    socketPath: async () => join(directory, 'api.sock'),
    after,
    received: (operations) => rows.push(...operations.map(({ row }) => row)),
    interrupted,
    signal: stop.signal,
  });

test('[CL28] each operation comes once, also those that are journaled while the agent does not answer', async () => {
  const followed = follow(3);
  await until(() => expect(rows).toEqual([4, 5]));
  write(2);
  await until(() => expect(rows).toEqual(upTo(7, 4)));
  await api.closeServer();
  write(3);
  await until(() => expect(lastRow()).toBe(10));
  await until(() => expect(interrupted).toHaveBeenCalledTimes(1));
  await api.reopenServer();
  await until(() => expect(rows).toEqual(upTo(10, 4)));
  write(1);
  await until(() => expect(rows).toEqual(upTo(11, 4)));
  expect(interrupted).toHaveBeenCalledTimes(1);
  stop.abort();
  await followed;
});

test('[CL28] a row of a journal that was lost since is replaced by the last one', async () => {
  const followed = follow(5000);
  await until(() => {
    if (rows.length === 0) write(1);
    expect(rows.length).toBeGreaterThan(0);
  });
  write(2);
  await until(() => expect(rows).toEqual(upTo(5 + files - 4, rows[0])));
  stop.abort();
  await followed;
});
