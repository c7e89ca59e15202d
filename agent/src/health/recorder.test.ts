import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MemberCondition } from '@lockstep/shared';
import type { Status } from '@lockstep/shared/api';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openHealthDatabase } from './health-database.ts';
import type { PairSamples } from './latency-log.ts';
import { Recorder } from './recorder.ts';

const hourMs = 3_600_000;
const start = Date.UTC(2026, 0, 1);
let directory = '';
const warnings: string[] = [];
const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: (_: object, text: string) => void warnings.push(text), error: quiet };

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-health-'));
  warnings.length = 0;
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const path = () => join(directory, 'health.db');

function status(now: number, conditions: Readonly<Record<string, MemberCondition>>): Status {
  const members = Object.entries(conditions).map(([name, condition]) => ({
    id: name,
    name,
    self: name === 'ant',
    condition,
  }));
  return { now, member: { id: 'ant', name: 'ant' }, members, problems: [], conflictCopies: 0 } as unknown as Status;
}

/** One run of an agent over the database of the test. */
class Run {
  readonly database = openHealthDatabase(path(), log);
  samples: readonly PairSamples[] = [];
  readonly recorder = new Recorder({ database: this.database, log, takeLatencies: () => this.samples });

  /** Notes the same conditions every five seconds. */
  note(from: number, until: number, conditions: Readonly<Record<string, MemberCondition>>): this {
    for (let now = from; now <= until; now += 5_000) this.recorder.note(status(now, conditions));
    return this;
  }

  /** With `isKilled` nothing more is written. */
  end(now: number, isKilled = false): void {
    if (!isKilled) this.recorder.stop(now);
    this.database.close();
  }
}

test('[HH1] [HH2] the conditions of each member are kept over a restart, and the time without an agent is not known', () => {
  const first = new Run()
    .note(start, start + hourMs, { ant: 'active', bee: 'active' })
    .note(start + hourMs + 5_000, start + 2 * hourMs, { ant: 'active', bee: 'down' });
  first.end(start + 2 * hourMs);
  const now = start + 4 * hourMs;
  const second = new Run().note(start + 3 * hourMs, now, { ant: 'active', bee: 'active' });
  const { from, everyMs, members } = second.recorder.spans.beats(now, '24h', ['ant', 'bee']);
  const bee = members.find(({ member }) => member === 'bee')?.beats ?? [];
  expect(bee).toHaveLength(48);
  const at = (ms: number) => bee[Math.floor((start + ms - from) / everyMs)]?.seconds;
  expect([-hourMs, 0.25, 1.25, 2.25, 3.25].map((hours) => at(hours < 0 ? hours : hours * hourMs))).toEqual([
    {},
    { active: 1_800 },
    { active: 5, down: 1_795 },
    {},
    { active: 1_800 },
  ]);
  expect(
    second.recorder.events.read({ limit: 10 }).events.map(({ kind, member, data }) => [kind, member, data]),
  ).toEqual([
    ['back', 'bee', { was: 'down', forMs: 2 * hourMs - 5_000 }],
    ['started', 'ant', { awayMs: hourMs }],
    ['stopped', 'ant', {}],
    ['down', 'bee', {}],
    ['started', 'ant', {}],
  ]);
  second.end(now);
});

test('[HH2] a kill takes at most the last minute, and a machine that slept was not seen', () => {
  const run = new Run().note(start, start + 600_000, { ant: 'active' });
  run.note(start + hourMs, start + hourMs + 300_000, { ant: 'active' });
  run.end(0, true);
  const { members } = new Run().recorder.spans.beats(start + 2 * hourMs, '24h', ['ant']);
  const known = members[0]?.beats.reduce((sum, { seconds }) => sum + (seconds.active ?? 0), 0) ?? 0;
  expect(known).toBeGreaterThan(900 - 61);
  expect(known).toBeLessThanOrEqual(900);
});

test('[HH3] round trips are kept as least, mean and most for an hour, a day and a week', () => {
  const run = new Run();
  for (let minute = 0; minute < 24 * 60; minute++) {
    const rttsMs = minute === 700 ? [] : [2, 4];
    run.samples = [{ from: 'ant', to: 'bee', rttsMs, peakMs: minute === 1_430 ? 80.123 : 4 }];
    run.note(start + minute * 60_000, start + minute * 60_000, { ant: 'active', bee: 'active' });
  }
  const now = start + 24 * hourMs - 1;
  const read = (span: '1h' | '24h' | '7d') => run.recorder.latency.read(now, 'ant', 'bee', span);
  expect(read('1h').points).toHaveLength(61);
  expect(read('1h').points.find(({ most }) => most !== 4)).toEqual({
    at: start + 1_430 * 60_000,
    least: 2,
    mean: 3,
    most: 80.12,
  });
  expect(read('24h').points).toHaveLength(288);
  expect(Math.max(...read('24h').points.map(({ most }) => most ?? 0))).toBe(80.12);
  expect(read('7d')).toMatchObject({
    everyMs: hourMs,
    points: expect.arrayContaining([expect.objectContaining({ mean: 3 })]),
  });
  expect(run.recorder.latency.read(now, 'bee', 'ant', '24h').points).toEqual([]);
  run.end(now);
});

test('[HH3] a time without a session has a point without a value', () => {
  const run = new Run();
  for (let minute = 0; minute < 10; minute++) {
    run.samples = [{ from: 'ant', to: 'bee', rttsMs: minute < 5 ? [1] : [] }];
    run.note(start + minute * 60_000, start + minute * 60_000, { ant: 'active' });
  }
  const { points } = run.recorder.latency.read(start + 600_000, 'ant', 'bee', '1h');
  expect(points.map(({ mean }) => mean)).toEqual([1, 1, 1, 1, 1, null, null, null, null, null]);
  run.end(start + 600_000);
});

test('[HH5] the file of 64 members stays small, and holds 30 days', () => {
  const names = ['ant', ...Array.from({ length: 63 }, (_, index) => `member-${index}-${'x'.repeat(40)}`)];
  const conditions = (down: boolean) =>
    Object.fromEntries(names.map((name) => [name, down && name !== 'ant' ? 'down' : 'active'] as const));
  const run = new Run();
  run.samples = names.slice(1).map((to) => ({ from: 'ant', to, rttsMs: [12.34, 15.67], peakMs: 123.45 }));
  const days = 31;
  const hours = days * 24;
  // One examination stands for each row that is left in the end: of an hour, of five minutes in the last day, of a minute in the last
  // hours. Up to eight of those hours are there before outdated rows are dropped.
  const everyMinutes = (hoursAgo: number): number => (hoursAgo > 26 ? 60 : hoursAgo > 8 ? 5 : 1);
  // One transaction in memory: each of its own would write 1 GB.
  run.database.pragma('cache_size = -65536');
  run.database.transaction(() => {
    for (let hour = 0; hour < hours; hour++) {
      for (let minute = 0; minute < 60; minute += everyMinutes(hours - hour)) {
        run.recorder.note(status(start + hour * hourMs + minute * 60_000, conditions(hour % 24 === 5)));
      }
    }
  })();
  const now = start + days * 24 * hourMs;
  run.end(now);
  const bytes = statSync(path()).size;
  expect(bytes).toBeLessThan(16_000_000);
  const again = new Run();
  const { events } = again.recorder.events.read({ limit: 200 });
  expect(events.every(({ at }) => at > now - 31 * 24 * hourMs)).toBe(true);
  again.end(now);
});

test('[HH6] a file that is damaged is put aside, and a new history begins', () => {
  writeFileSync(path(), Buffer.alloc(10_000, 'no database '));
  new Run().note(start, start + 60_000, { ant: 'active' }).end(start + 60_000);
  expect(warnings).toEqual([expect.stringContaining('health.db cannot be used')]);
  expect(statSync(`${path()}.unusable`).size).toBe(10_000);
  const again = new Run();
  expect(again.recorder.events.read({ limit: 10 }).events.map(({ kind }) => kind)).toEqual(['stopped', 'started']);
  again.end(start);
});
