import type { LiveOperationsMessage, LoggedOperation, OperationsPage } from '@lockstep/shared/api';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { OperationFeed } from './operation-feed.ts';

const batchOperations = 100;

/** The slowest of these take a second, and much longer on a machine that has other things to do. */
vi.setConfig({ testTimeout: 120_000 });

/** What an agent answers, said as shared/src/api says it: pages of its journal, and the stream of what comes. */
class Agent {
  rows = 0;
  /** Pages that are asked for wait until they are given. */
  holdsPages = false;
  isSilent = false;
  sockets: Stream[] = [];
  #held: (() => void)[] = [];

  journal(count: number): void {
    this.rows += count;
    for (const socket of this.sockets) socket.pump();
  }

  cut(): void {
    for (const socket of [...this.sockets]) socket.end();
  }

  givePages(): void {
    this.holdsPages = false;
    for (const give of this.#held.splice(0)) give();
  }

  async page(url: string): Promise<Response> {
    const query = new URL(url, 'http://agent').searchParams;
    const limit = Number(query.get('limit'));
    const before = Number(query.get('before') ?? this.rows + 1);
    const operations = operationsBetween(Math.max(1, before - limit), before - 1).reverse();
    const page: OperationsPage = {
      operations,
      next: operations.length < limit ? null : (operations.at(-1)?.row ?? null),
    };
    if (this.isSilent) throw new TypeError('nobody answers');
    if (this.holdsPages) await new Promise<void>((resolve) => this.#held.push(resolve));
    return Response.json(page);
  }
}

let agent: Agent;

class Stream extends EventTarget {
  #sent: number;
  #isOpen = false;

  constructor(url: URL) {
    super();
    this.#sent = Math.min(Number(url.searchParams.get('after') ?? agent.rows), agent.rows);
    agent.sockets.push(this);
    setTimeout(() => {
      this.#isOpen = true;
      this.pump();
      this.#say({ type: 'live', last: this.#sent });
    });
  }

  pump(): void {
    while (this.#isOpen && this.#sent < agent.rows) {
      const operations = operationsBetween(this.#sent + 1, Math.min(agent.rows, this.#sent + batchOperations));
      this.#sent += operations.length;
      this.#say({ type: 'operations', operations });
    }
  }

  end(): void {
    this.close();
    this.dispatchEvent(new Event('close'));
  }

  close(): void {
    this.#isOpen = false;
    agent.sockets = agent.sockets.filter((socket) => socket !== this);
  }

  #say(message: LiveOperationsMessage): void {
    if (agent.sockets.includes(this))
      this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }));
  }
}

function operationsBetween(from: number, to: number): LoggedOperation[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => {
    const row = from + index;
    const who = { origin: 'ant.a', member: 'ant', memberName: 'ant' };
    return { ...who, seq: row, kind: 'put', path: `${row}`, size: 1, at: row, hlc: row, row, journaledAt: row };
  });
}

const rowsOf = (feed: OperationFeed) => feed.list.visible.map(({ row }) => row);
const settle = () => vi.advanceTimersByTimeAsync(1_500);

function oneAfterTheOther(rows: readonly number[]): boolean {
  return rows.every((row, index) => index === 0 || row === (rows[index - 1] ?? 0) + 1);
}

beforeEach(() => {
  vi.useFakeTimers();
  agent = new Agent();
  vi.stubGlobal('location', { href: 'http://agent/operations' });
  vi.stubGlobal('fetch', (url: string) => agent.page(url));
  vi.stubGlobal('WebSocket', Stream);
  vi.stubGlobal('requestAnimationFrame', (draw: (now: number) => void) =>
    setTimeout(() => draw(performance.now()), 16),
  );
  vi.stubGlobal('cancelAnimationFrame', clearTimeout);
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('[DB-J7] [DB-A6] whatever breaks in between, each operation is there once, in order', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('journal' as const), count: fc.integer({ min: 1, max: 300 }) }),
    fc.record({ do: fc.constantFrom('cut', 'leave', 'pause', 'follow', 'older', 'wait', 'hold', 'give') }),
  );
  const run = async (steps: readonly { readonly do: string; readonly count?: number }[]) => {
    agent = new Agent();
    agent.rows = 1_200;
    const feed = new OperationFeed();
    let leave = feed.subscribe(() => undefined);
    for (const { do: what, count = 0 } of steps) {
      if (what === 'journal') agent.journal(count);
      if (what === 'cut') agent.cut();
      if (what === 'pause') feed.pause();
      if (what === 'follow') feed.follow();
      if (what === 'older') void feed.loadOlder();
      if (what === 'wait') await settle();
      if (what === 'hold') agent.holdsPages = true;
      if (what === 'give') agent.givePages();
      if (what === 'leave') {
        leave();
        leave = feed.subscribe(() => undefined);
      }
      await vi.advanceTimersByTimeAsync(1);
      expect(oneAfterTheOther(rowsOf(feed))).toBe(true);
    }
    agent.givePages();
    feed.follow();
    await settle();
    while (feed.get().end === 'more') await Promise.all([feed.loadOlder(), settle()]);
    leave();
    expect(rowsOf(feed)).toEqual(operationsBetween(1, agent.rows).map(({ row }) => row));
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 12 }), run), { numRuns: 20 });
});

test('[DB-A6] who leaves the view and comes back before the first page is there misses nothing', async () => {
  agent.rows = 20;
  agent.holdsPages = true;
  const feed = new OperationFeed();
  feed.subscribe(() => undefined)();
  agent.journal(5);
  const leave = feed.subscribe(() => undefined);
  await settle();
  agent.journal(5);
  agent.givePages();
  await settle();
  leave();
  expect(rowsOf(feed)).toEqual(operationsBetween(1, 30).map(({ row }) => row));
});

test('[DB-A6] a first page that is read anew while the stream runs already tells nothing twice', async () => {
  agent.rows = 20;
  agent.isSilent = true;
  const feed = new OperationFeed();
  const leave = feed.subscribe(() => undefined);
  await settle();
  expect(feed.get().connection).toBe('live');
  expect(rowsOf(feed)).toEqual([]);
  agent.isSilent = false;
  // The page has them before the stream brings them.
  agent.rows += 5;
  await feed.loadOlder();
  agent.journal(5);
  await settle();
  leave();
  expect(rowsOf(feed)).toEqual(operationsBetween(1, 30).map(({ row }) => row));
});

test('[DB-J7] a journal that was lost and begins anew: so does the feed', async () => {
  agent.rows = 500;
  const feed = new OperationFeed();
  const leave = feed.subscribe(() => undefined);
  await settle();
  agent.rows = 3;
  agent.cut();
  await settle();
  expect(rowsOf(feed)).toEqual([1, 2, 3]);
  agent.journal(2);
  await settle();
  leave();
  expect(rowsOf(feed)).toEqual([1, 2, 3, 4, 5]);
});

test('[DB-J3] more than is kept came while the reader stood still: the feed goes on with the newest, and reads the rest', async () => {
  const feed = new OperationFeed();
  const leave = feed.subscribe(() => undefined);
  agent.journal(10);
  await settle();
  feed.pause();
  agent.journal(45_000);
  await settle();
  expect(feed.get()).toMatchObject({ isFollowing: false, waiting: 45_000 });
  expect(rowsOf(feed)).toHaveLength(10);
  feed.follow();
  expect(feed.get()).toMatchObject({ isFollowing: true, waiting: 0, end: 'more' });
  expect(feed.list.lastRow).toBe(45_010);
  await feed.loadOlder();
  leave();
  expect(oneAfterTheOther(rowsOf(feed))).toBe(true);
  expect(rowsOf(feed).length).toBeGreaterThan(20_000);
});

test('[DB-J6] however many come, the view is told ten times a second', async () => {
  const feed = new OperationFeed();
  let told = 0;
  const leave = feed.subscribe(() => told++);
  await settle();
  told = 0;
  for (let ms = 0; ms < 1_000; ms += 5) {
    agent.journal(10);
    await vi.advanceTimersByTimeAsync(5);
  }
  leave();
  expect(told).toBeGreaterThan(5);
  expect(told).toBeLessThanOrEqual(11);
  expect(feed.list.lastRow).toBe(2_000);
});
