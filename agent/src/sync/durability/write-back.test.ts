import {
  writeBackBusyMsMax,
  writeBackIdleMs,
  writeBackIntervalMs,
  writeBackQuietMs,
  writeBackRetryMs,
} from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { openTestMember } from '../../../test/support/scripted-peer.ts';
import type { Fingerprint } from '../../core/entry.ts';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import type { SyncResult } from '../ports/folder.ts';
import { WriteBack } from './write-back.ts';

const done: SyncResult = { result: 'done', hidden: [], single: [] };
const known: Fingerprint = { ino: 1, size: 1, mtimeMs: 1, ctimeMs: 1, mode: 0o100644, birthMs: 1 };
const failed: SyncResult = { result: 'failed', detail: 'The disk did not take it.' };
const notDone: SyncResult = { result: 'not-done', detail: 'The folder is gone.' };

/** A member whose syncs take as long, and have the outcome, that the test sets. */
class Bench {
  readonly member = new LoneMember();
  readonly syncs: { readonly atMs: number; readonly paths: readonly string[] }[] = [];
  readonly writeBack: WriteBack;
  takesMs = 0;
  outcome: SyncResult | Error = done;
  /** How often rows became durable. */
  durable = 0;

  constructor() {
    const { context } = this.member;
    const sync = (paths: readonly string[]): Promise<SyncResult> => {
      this.syncs.push({ atMs: context.clock.monotonicMs(), paths: paths.toSorted() });
      return new Promise((resolve, reject) => {
        context.clock.after(this.takesMs, () => {
          if (this.outcome instanceof Error) reject(this.outcome);
          else resolve(this.outcome);
        });
      });
    };
    context.facts.durable.on(() => this.durable++);
    this.writeBack = new WriteBack({ ...context, folder: { ...context.folder, sync } });
  }

  /** Journals a user's change at each path. */
  changed(...paths: readonly string[]): void {
    const { member } = this;
    for (const path of paths) {
      const operation = member.operation(path, { kind: 'put', text: path }, { parents: member.journal.heads.at(path) });
      member.received(operation);
      const { origin, seq } = operation;
      member.journal.disk.record([{ path, entry: { dot: { origin, seq }, unsynced: true } }]);
    }
    this.writeBack.poke();
  }

  passes(ms: number): Promise<void> {
    return this.member.passes(ms);
  }

  get unsynced(): readonly string[] {
    return this.member.journal.disk.unsynced().paths.toSorted();
  }

  get isReported(): boolean {
    return this.member.context.problems.has('sync-failed');
  }
}

describe('[PC1] a change by a user', () => {
  test('becomes durable with one sync, a moment after the first change', async () => {
    const bench = new Bench();
    bench.changed('a');
    await bench.passes(writeBackIdleMs - 1);
    expect(bench.syncs).toEqual([]);
    bench.changed('b', 'c');
    await bench.passes(2);
    expect(bench.syncs.map(({ paths }) => paths)).toEqual([['a', 'b', 'c']]);
    expect([bench.unsynced, bench.durable]).toEqual([[], 1]);
    await bench.passes(60_000);
    expect(bench.syncs).toHaveLength(1);
  });

  test('among many waits until they end, some seconds at most, or until a wait', async () => {
    const bench = new Bench();
    const stream = async (ms: number): Promise<number> => {
      const before = bench.syncs.length;
      for (let passed = 0; passed < ms; passed += 200) {
        bench.member.context.facts.made.publish([]);
        bench.changed(`${before} ${passed}`);
        await bench.passes(200);
      }
      return bench.syncs.length - before;
    };
    expect(await stream(writeBackBusyMsMax)).toBe(1);
    expect(await stream(2 * writeBackBusyMsMax)).toBe(2);
    bench.writeBack.hurry();
    await bench.passes(1);
    expect(bench.unsynced).toEqual([]);
    expect(await stream(1_000)).toBe(0);
    await bench.passes(writeBackQuietMs);
    expect(bench.unsynced).toEqual([]);
  });

  test('stays undurable if its entry had another name by the time of the sync', async () => {
    const bench = new Bench();
    const { journal, facts } = bench.member.context;
    const doubted: string[] = [];
    facts.doubted.on((path) => doubted.push(path));
    bench.changed('moved', 'replaced', 'kept');
    for (const path of ['moved', 'replaced', 'kept']) {
      const row = journal.disk.at(path);
      if (row !== undefined) journal.disk.record([{ path, entry: { ...row, fingerprint: { ...known, ino: 7 } } }]);
    }
    const single = [
      { path: 'moved', ino: undefined },
      { path: 'replaced', ino: 8 },
      { path: 'kept', ino: 7 },
    ];
    bench.outcome = { result: 'done', hidden: [], single };
    await bench.passes(writeBackIdleMs + 1);
    expect(bench.unsynced).toEqual(['moved', 'replaced']);
    expect(doubted).toEqual(['moved', 'replaced']);
    bench.outcome = done;
    await bench.passes(2 * writeBackIntervalMs);
    expect(bench.unsynced).toEqual([]);
  });

  test('during a sync needs another one, which begins when the interval is over', async () => {
    const bench = new Bench();
    bench.takesMs = 100;
    bench.changed('a');
    await bench.passes(writeBackIdleMs + 50);
    bench.changed('b');
    await bench.passes(100);
    expect([bench.unsynced, bench.syncs.length]).toEqual([['b'], 1]);
    await bench.passes(writeBackIntervalMs);
    expect(bench.syncs.map(({ paths }) => paths)).toEqual([['a'], ['b']]);
    expect((bench.syncs[1]?.atMs ?? 0) - (bench.syncs[0]?.atMs ?? 0)).toBe(writeBackIntervalMs);
    expect(bench.unsynced).toEqual([]);
  });

  test('leaves a slow disk four times as long to other work as it took to sync', async () => {
    const bench = new Bench();
    bench.takesMs = 3_000;
    bench.changed('a');
    await bench.passes(writeBackIdleMs + bench.takesMs + 10);
    bench.changed('b');
    await bench.passes(4 * bench.takesMs - 100);
    expect(bench.syncs).toHaveLength(1);
    await bench.passes(200);
    expect(bench.syncs).toHaveLength(2);
  });

  test('is synced at once for a wait, and right after the sync that is under way', async () => {
    const bench = new Bench();
    bench.takesMs = 100;
    bench.changed('a');
    bench.writeBack.hurry();
    await bench.passes(1);
    expect(bench.syncs).toHaveLength(1);
    bench.changed('b');
    bench.writeBack.hurry();
    await bench.passes(105);
    expect(bench.syncs.map(({ paths }) => paths)).toEqual([['a'], ['b']]);
    await bench.passes(100);
    expect([bench.unsynced, bench.durable]).toEqual([[], 2]);
  });

  test('gets a last sync at the end, which is abandoned after a while', async () => {
    const bench = new Bench();
    bench.changed('a');
    const ended = bench.writeBack.stop(1_000);
    await bench.passes(10);
    await ended;
    expect([bench.unsynced, bench.syncs.length]).toEqual([[], 1]);

    const slow = new Bench();
    slow.takesMs = 60_000;
    slow.changed('a');
    let isOver = false;
    const given = slow.writeBack.stop(1_000).then(() => {
      isOver = true;
    });
    await slow.passes(999);
    expect(isOver).toBe(false);
    await slow.passes(2);
    await given;
    expect(slow.unsynced).toEqual(['a']);
  });
});

describe('[PC4] a sync that failed', () => {
  test('clears no row, nor does a later one for writes before it', async () => {
    const bench = new Bench();
    bench.outcome = failed;
    bench.changed('a');
    await bench.passes(1_000);
    expect([bench.unsynced, bench.durable, bench.isReported]).toEqual([['a'], 0, true]);
    bench.outcome = done;
    bench.changed('b');
    bench.writeBack.hurry();
    await bench.passes(writeBackRetryMs - 2_000);
    expect(bench.syncs).toHaveLength(1);
    await bench.passes(2_000);
    expect([bench.unsynced, bench.durable, bench.isReported]).toEqual([['a'], 1, true]);
    const { length } = bench.syncs;
    await bench.passes(60_000);
    expect(bench.syncs, 'no sync for rows that it cannot clear').toHaveLength(length);
  });

  test('is reported until all its paths were written again or are gone', async () => {
    const bench = new Bench();
    bench.outcome = failed;
    bench.changed('a', 'b');
    await bench.passes(1_000);
    bench.outcome = done;
    bench.changed('a');
    await bench.passes(2 * writeBackRetryMs);
    expect([bench.unsynced, bench.isReported]).toEqual([['b'], true]);
    // Another member's version, which was synced when it was applied, has replaced it.
    const { dot } = bench.member.journal.disk.at('b') ?? {};
    if (dot === undefined) throw new Error('b has no row');
    bench.member.journal.disk.record([{ path: 'b', entry: { dot } }]);
    await bench.passes(writeBackRetryMs + 100);
    expect([bench.unsynced, bench.isReported]).toEqual([[], false]);
    const { length } = bench.syncs;
    await bench.passes(60_000);
    expect(bench.syncs).toHaveLength(length);
  });

  test('is what the problem names, also after a sync that could not be done', async () => {
    const bench = new Bench();
    bench.outcome = failed;
    bench.changed('a');
    await bench.passes(1_000);
    bench.outcome = notDone;
    bench.changed('b');
    await bench.passes(2 * writeBackRetryMs);
    expect(bench.member.context.problems.list()).toMatchObject([{ code: 'sync-failed', detail: failed.detail }]);
  });

  test('does not count for paths on a disk that is away', async () => {
    const bench = new Bench();
    bench.outcome = { result: 'done', hidden: ['a'], single: [] };
    bench.changed('a', 'b');
    await bench.passes(writeBackRetryMs);
    expect([bench.unsynced, bench.syncs.length]).toEqual([['a'], 1]);
    const { length } = bench.member.wrote;
    await bench.passes(10 * writeBackRetryMs);
    expect(bench.member.wrote, 'no row has changed').toHaveLength(length);
    bench.outcome = done;
    await bench.passes(writeBackRetryMs);
    expect(bench.unsynced).toEqual([]);
  });

  test('that could not be requested, without a failure: the next one counts for all paths', async () => {
    const bench = new Bench();
    bench.outcome = notDone;
    bench.changed('a');
    await bench.passes(1_000);
    expect([bench.unsynced, bench.isReported]).toEqual([['a'], true]);
    bench.outcome = done;
    await bench.passes(writeBackRetryMs);
    expect([bench.unsynced, bench.durable, bench.isReported]).toEqual([[], 1, false]);
  });

  test.each([['a'], ['a', 'b']])('is cleared by a sync of the other disks (away: %s)', async (...hidden) => {
    const bench = new Bench();
    bench.outcome = notDone;
    bench.changed('a', 'b');
    await bench.passes(1_000);
    expect(bench.isReported).toBe(true);
    bench.outcome = { result: 'done', hidden, single: [] };
    await bench.passes(writeBackRetryMs);
    expect([bench.unsynced, bench.isReported]).toEqual([hidden, false]);
  });

  test('with an error is logged and retried', async () => {
    const bench = new Bench();
    bench.outcome = new Error('the worker ended');
    bench.changed('a');
    await bench.passes(1_000);
    expect(bench.member.errors).toHaveLength(1);
    bench.outcome = done;
    await bench.passes(writeBackRetryMs);
    expect(bench.unsynced).toEqual([]);
  });
});

test('[PC1] a row that is marked again after the sync that cleared it is made durable too', async () => {
  const { engine, journal, volume, until } = openTestMember([]);
  void engine.start();
  expect(await until(() => engine.lifecycle.state === 'active', 10_000)).toBe(true);
  volume.disk.write('x', contentOfText('x'));
  expect(await until(() => journal.disk.unsynced().paths.length > 0, 10_000)).toBe(true);
  const before = journal.disk.at('x');
  expect(await until(() => journal.disk.unsynced().paths.length === 0, 10_000)).toBe(true);
  // A plan may read the row before the sync ended, and record it afterwards for an operation of equal content.
  if (before !== undefined) journal.disk.record([{ path: 'x', entry: before }]);
  expect(journal.disk.unsynced().paths).toEqual(['x']);
  expect(await until(() => journal.disk.unsynced().paths.length === 0, 10_000)).toBe(true);
  expect(journal.applied().vector).toEqual(journal.log.known());
});
