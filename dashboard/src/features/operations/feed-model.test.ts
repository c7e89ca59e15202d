import type { LoggedOperation } from '@lockstep/shared/api';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FeedModel, type PageWish } from './feed-model.ts';

const pageOperations = 1_000;
const batchOperations = 100;

/** A feed and a simulated agent. The agent serves pages of a journal and its stream as shared/src/api specifies, when the test lets it. */
class Scene {
  readonly feed = new FeedModel();
  rows: number;
  isSilent = false;
  /** Whether requested pages wait for `givePages`. */
  holdsPages = false;
  readonly #asked: PageWish[] = [];
  /** The last row that the stream has sent; undefined without a stream. */
  #told: number | undefined;

  constructor(rows = 0) {
    this.rows = rows;
  }

  open(): void {
    this.feed.followed();
    this.moves();
  }

  leave(): void {
    this.feed.unfollowed();
    this.moves();
  }

  journal(count: number): void {
    this.rows += count;
    this.#stream();
  }

  older(): void {
    this.feed.wantOlder();
    this.moves();
  }

  cut(): void {
    if (this.#told === undefined) return;
    this.#told = undefined;
    this.feed.lost();
    this.moves();
  }

  rest(): void {
    this.feed.rested();
    this.moves();
  }

  givePages(): void {
    this.holdsPages = false;
    this.moves();
  }

  /** Grants the feed's wishes until none is left that may be granted. */
  moves(): void {
    if (!this.feed.isStreaming) this.#told = undefined;
    for (let wish = this.feed.next(); wish !== undefined; wish = this.feed.next()) {
      if (wish.for === 'page') this.#asked.push(wish);
      else this.#openStream(wish.after);
    }
    if (this.holdsPages) return;
    for (let wish = this.#asked.shift(); wish !== undefined; wish = this.#asked.shift()) {
      this.#answer(wish);
      this.moves();
    }
  }

  /** The rows in the list after the next rendering. */
  rendered(): readonly number[] {
    this.feed.advance();
    return this.listed();
  }

  listed(): readonly number[] {
    return this.feed.list.visible.map(({ row }) => row);
  }

  #answer(wish: PageWish): void {
    if (this.isSilent) {
      this.feed.failedPage('no answer');
      return;
    }
    const before = wish.before ?? this.rows + 1;
    const operations = operationsBetween(Math.max(1, before - pageOperations), before - 1).reverse();
    const next = operations.length < pageOperations ? null : (operations.at(-1)?.row ?? null);
    this.feed.gotPage(wish, { operations, next });
  }

  #openStream(after: number | undefined): void {
    this.#told = Math.min(after ?? this.rows, this.rows);
    this.#stream();
    this.feed.received({ type: 'live', last: this.#told });
    this.moves();
  }

  #stream(): void {
    while (this.#told !== undefined && this.#told < this.rows) {
      const operations = operationsBetween(this.#told + 1, Math.min(this.rows, this.#told + batchOperations));
      this.#told += operations.length;
      this.feed.received({ type: 'operations', operations });
    }
  }
}

function operationsBetween(from: number, to: number): LoggedOperation[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => {
    const row = from + index;
    const who = { origin: 'ant.a', member: 'ant', memberName: 'ant' };
    return { ...who, seq: row, kind: 'put', path: `${row}/a`, size: 1, at: row, hlc: row, row, journaledAt: row };
  });
}

const rowsTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

function oneAfterTheOther(rows: readonly number[]): boolean {
  return rows.every((row, index) => index === 0 || row === (rows[index - 1] ?? 0) + 1);
}

test('[DB-J7] [DB-A6] each operation is listed once and in order, whatever breaks in between', () => {
  const does: Record<string, (scene: Scene, count: number) => void> = {
    journal: (scene, count) => scene.journal(count),
    cut: (scene) => scene.cut(),
    rest: (scene) => scene.rest(),
    leave: (scene) => scene.leave(),
    open: (scene) => scene.open(),
    pause: ({ feed }) => feed.pause(),
    follow: ({ feed }) => feed.follow(),
    render: ({ feed }) => feed.advance(),
    older: (scene) => scene.older(),
    hold: (scene) => {
      scene.holdsPages = true;
    },
    give: (scene) => scene.givePages(),
    silence: (scene) => {
      scene.isSilent = !scene.isSilent;
    },
  };
  const step = fc.tuple(fc.constantFrom(...Object.keys(does)), fc.integer({ min: 1, max: 300 }));
  const run = (steps: readonly (readonly [string, number])[]): void => {
    const scene = new Scene(1_200);
    scene.open();
    for (const [name, count] of steps) {
      does[name]?.(scene, count);
      expect(oneAfterTheOther(scene.listed())).toBe(true);
    }
    scene.isSilent = false;
    scene.givePages();
    scene.leave();
    scene.open();
    scene.feed.follow();
    while (scene.feed.state.end === 'more') scene.older();
    expect(scene.rendered()).toEqual(rowsTo(scene.rows));
    expect(scene.feed.state).toMatchObject({ connection: 'live', end: 'beginning', error: undefined });
  };
  fc.assert(fc.property(fc.array(step, { maxLength: 30 }), run), { numRuns: 100 });
});

test('[DB-A6] a user who returns to the view before the first page has arrived misses nothing', () => {
  const scene = new Scene(20);
  scene.holdsPages = true;
  scene.open();
  scene.leave();
  scene.journal(5);
  scene.open();
  scene.journal(5);
  scene.givePages();
  expect(scene.rendered()).toEqual(rowsTo(30));
});

test('[DB-A6] a first page that is read again while the stream is open repeats no operation', () => {
  const scene = new Scene(20);
  scene.isSilent = true;
  scene.open();
  expect(scene.feed.state).toMatchObject({ connection: 'live' });
  expect(scene.rendered()).toEqual([]);
  scene.isSilent = false;
  // The page contains these rows before the stream sends them.
  scene.rows += 5;
  scene.older();
  scene.journal(5);
  expect(scene.rendered()).toEqual(rowsTo(30));
});

test('[DB-J7] the feed starts over with a journal that was lost and started over', () => {
  const scene = new Scene(500);
  scene.open();
  scene.rows = 3;
  scene.cut();
  expect(scene.feed.state.connection).toBe('lost');
  scene.rest();
  expect(scene.rendered()).toEqual([1, 2, 3]);
  scene.journal(2);
  expect(scene.rendered()).toEqual([1, 2, 3, 4, 5]);
});

test('[DB-J7] an older page of a lost journal is not added to the new one', () => {
  const scene = new Scene(2_500);
  scene.open();
  scene.holdsPages = true;
  scene.older();
  scene.rows = 3;
  scene.cut();
  scene.rest();
  scene.givePages();
  expect(scene.rendered()).toEqual([1, 2, 3]);
});

test('[DB-J3] after a pause with more operations than are kept, the feed shows the newest and reads the others on request', () => {
  const scene = new Scene();
  const { feed } = scene;
  scene.open();
  scene.journal(10);
  scene.rendered();
  feed.pause();
  scene.journal(45_000);
  expect(feed.state).toMatchObject({ isFollowing: false, waiting: 45_000 });
  expect(scene.rendered()).toHaveLength(10);
  feed.follow();
  expect(feed.state).toMatchObject({ isFollowing: true, waiting: 0, end: 'more' });
  expect(feed.list.lastRow).toBe(45_010);
  scene.older();
  expect(oneAfterTheOther(scene.rendered())).toBe(true);
  expect(scene.rendered().length).toBeGreaterThan(20_000);
});

test('[DB-J3] operations that arrive after a rendering move no line until the next one, so a press chooses the line under it', () => {
  const scene = new Scene(20);
  const { feed } = scene;
  scene.open();
  scene.journal(5);
  const before = scene.rendered();
  scene.journal(3);
  expect(scene.listed()).toEqual(before);
  feed.pause();
  expect(scene.rendered()).toEqual(before);
  expect(feed.state).toMatchObject({ waiting: 3 });
  feed.follow();
  expect(scene.listed()).toEqual(rowsTo(28));
});
