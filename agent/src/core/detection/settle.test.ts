import { vanishedHoldMs } from '@lockstep/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DirtyPath, largeFileDueMs, quietMsMax, quietMsMin, Settle, writtenQuietMsMax } from './settle.ts';

const noLimit = Number.POSITIVE_INFINITY;

function due(settle: Settle, nowMs: number): readonly string[] {
  return settle.takeDue(nowMs, noLimit).map(({ path }) => path);
}

/** Takes the due path as the loop does, until `endMs`; each check publishes. Returns the times of the checks. */
function checkTimes(settle: Settle, marksMs: readonly number[], endMs: number): readonly number[] {
  const found: number[] = [];
  const pending = marksMs.slice();
  for (let nowMs = 0; nowMs <= endMs; nowMs++) {
    while (pending[0] !== undefined && pending[0] <= nowMs) settle.mark('p', pending.shift() as number);
    if (settle.takeDue(nowMs, 1).length === 0) continue;
    found.push(nowMs);
    settle.published('p', nowMs);
  }
  return found;
}

function every(intervalMs: number, endMs: number): readonly number[] {
  return Array.from({ length: Math.floor(endMs / intervalMs) }, (_, index) => index * intervalMs);
}

describe('[WT1] when a changed path is checked', () => {
  test('[LC4] a first change after a short silence, and not before', () => {
    const settle = new Settle();
    settle.mark('p', 100);
    expect(settle.nextDueMs()).toBe(100 + quietMsMin);
    expect(due(settle, 100 + quietMsMin - 1)).toEqual([]);
    expect(due(settle, 100 + quietMsMin)).toEqual(['p']);
    expect(settle.size).toBe(0);
    expect(settle.nextDueMs()).toBeUndefined();
  });

  test('[LC4] a further change starts the silence again', () => {
    const settle = new Settle();
    settle.mark('p', 100);
    settle.mark('p', 101);
    expect(due(settle, 100 + quietMsMin)).toEqual([]);
    expect(due(settle, 101 + quietMsMin)).toEqual(['p']);
  });

  test('[LC4] a path that is never silent is checked all the same', () => {
    const settle = new Settle();
    let checkedMs: number | undefined;
    for (let nowMs = 0; nowMs < 100 && checkedMs === undefined; nowMs++) {
      settle.mark('p', nowMs);
      if (settle.takeDue(nowMs, 1).length > 0) checkedMs = nowMs;
    }
    expect(checkedMs).toBeLessThanOrEqual(writtenQuietMsMax * 4);
  });

  test('[LC4] one that is written for some time must be silent for as long, up to a limit', () => {
    const settle = new Settle();
    for (let nowMs = 0; nowMs <= 6; nowMs += 0.5) settle.mark('p', nowMs);
    expect(due(settle, 11.9)).toEqual([]);
    expect(due(settle, 12)).toEqual(['p']);
    for (let nowMs = 100; nowMs <= 130; nowMs += 0.5) settle.mark('q', nowMs);
    expect(due(settle, 130 + writtenQuietMsMax)).toEqual(['q']);
  });

  test('[LC4] one that is published repeatedly is checked more and more rarely, but every few seconds', () => {
    const times = checkTimes(new Settle(), every(10, 60_000), 60_000);
    expect(times[0]).toBe(quietMsMin);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(quietMsMax * 4 + 10);
    // A log written a hundred times a second for a minute: 6,000 changes, and only so many operations.
    expect(times.length).toBeGreaterThanOrEqual(14);
    expect(times.length).toBeLessThanOrEqual(40);
  });

  test('[LC4] however late a check comes, a path costs at most ten operations a second', () => {
    const endMs = 10_000;
    for (const intervalMs of [5, 10, 20, 30, 50, 90]) {
      expect(checkTimes(new Settle(), every(intervalMs, endMs), endMs).length).toBeLessThan(20);
    }
    // A machine that is so slow that each check comes when the file changed once more.
    const settle = new Settle();
    let checks = 0;
    for (let nowMs = 0; nowMs < endMs; nowMs += 40) {
      settle.mark('p', nowMs);
      settle.mark('p', nowMs + 12);
      if (settle.takeDue(nowMs + 39, 1).length === 0) continue;
      settle.published('p', nowMs + 39);
      checks += 1;
    }
    expect(checks).toBeLessThan(20);
  });

  test('[LC4] one that is changed five times a second is checked at once each time', () => {
    const times = checkTimes(new Settle(), every(200, 10_000), 10_000);
    expect(times).toEqual(every(200, 10_000).map((time) => time + quietMsMin));
  });

  test('[LC4] one that is changed every ten seconds is checked at once each time', () => {
    const times = checkTimes(new Settle(), every(10_000, 60_000), 60_000);
    expect(times).toEqual(every(10_000, 60_000).map((time) => time + quietMsMin));
  });

  test('[LC4] silence makes a path that was busy an ordinary one again', () => {
    const settle = new Settle();
    for (let count = 0; count < 12; count++) settle.published('p', count);
    settle.mark('p', 20);
    expect(settle.nextDueMs()).toBe(20 + quietMsMax);
    expect(settle.takeDue(20 + quietMsMax, 1)).toHaveLength(1);
    settle.mark('p', 20 + quietMsMax * 8);
    expect(settle.nextDueMs()).toBe(20 + quietMsMax * 8 + quietMsMin);
  });

  test('[LC4] a path is not held up by another one', () => {
    const settle = new Settle();
    for (let count = 0; count < 12; count++) settle.published('busy', 0);
    settle.mark('busy', 0);
    settle.mark('p', 0);
    expect(due(settle, quietMsMin)).toEqual(['p']);
    expect(settle.paths()).toEqual(['busy']);
  });

  test('[LC4] a path that was put off is due at the given time, and further changes cannot bring it forward', () => {
    const settle = new Settle();
    settle.defer({ path: 'p', firstMs: 0, lastMs: 0 }, 500);
    expect(settle.nextDueMs()).toBe(500);
    settle.mark('p', 490);
    expect(due(settle, 500)).toEqual([]);
    expect(due(settle, 990)).toEqual(['p']);
  });

  test('[LC4] to put off a path that has changed meanwhile does not forget that change', () => {
    const settle = new Settle();
    settle.mark('p', 300);
    settle.defer({ path: 'p', firstMs: 100, lastMs: 100 }, 200);
    expect(settle.takeDue(300 + quietMsMin, 1)).toMatchObject([
      { path: 'p', firstMs: 100, lastMs: 300, dueMs: 300 + quietMsMin },
    ]);
  });

  test('[LC7] the time at which a path was found absent is kept while it changes further, until it is checked', () => {
    const settle = new Settle();
    settle.mark('p', 0);
    settle.defer({ path: 'p', firstMs: 0, lastMs: 0, missingSinceMs: 5 }, 20);
    settle.mark('p', 10);
    expect(settle.takeDue(1_000, 1)).toMatchObject([{ path: 'p', missingSinceMs: 5 }]);
    settle.mark('p', 2_000);
    expect(settle.takeDue(3_000, 1)[0]?.missingSinceMs).toBeUndefined();
  });

  test('[AK5] in a hurry everything is due', () => {
    const settle = new Settle();
    settle.mark('a', 0);
    settle.defer({ path: 'b', firstMs: 0, lastMs: 0 }, 60_000);
    settle.hurry(1);
    expect(settle.nextDueMs()).toBe(1);
    expect(due(settle, 1)).toEqual(['a', 'b']);
  });

  test('[LC4] at most the limit is taken, in the order of the first change, and the rest is due at once', () => {
    const settle = new Settle();
    for (const path of ['a', 'b', 'c']) settle.mark(path, 0);
    settle.mark('a', 1);
    expect(settle.takeDue(10, 2).map(({ path }) => path)).toEqual(['a', 'b']);
    expect(settle.nextDueMs()).toBeLessThanOrEqual(10);
    expect(due(settle, 10)).toEqual(['c']);
  });

  test('[LC4] the next time is never too late, and repeated waits for it take everything', () => {
    const steps = fc.array(
      fc.tuple(fc.constantFrom('mark', 'defer', 'publish', 'take', 'hurry'), fc.nat(5), fc.nat(40)),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(steps, (taken) => {
        const settle = new Settle();
        let nowMs = 0;
        for (const [step, number, afterMs] of taken) {
          nowMs += afterMs;
          const path = `p${number}`;
          if (step === 'mark') settle.mark(path, nowMs);
          else if (step === 'defer') settle.defer({ path, firstMs: nowMs, lastMs: nowMs }, nowMs + afterMs * 10);
          else if (step === 'publish') settle.published(path, nowMs);
          else if (step === 'hurry') settle.hurry(nowMs);
          else for (const entry of settle.takeDue(nowMs, 2)) expect(entry.dueMs).toBeLessThanOrEqual(nowMs);
        }
        for (let rounds = 0; settle.size > 0; rounds++) {
          expect(rounds).toBeLessThan(50);
          const nextMs = settle.nextDueMs() ?? Number.NaN;
          const before = settle.size;
          nowMs = Math.max(nowMs, nextMs);
          const took = settle.takeDue(nowMs, noLimit).length;
          // It may be early once for each path that was marked again, and is then exact.
          if (took === 0) expect(settle.nextDueMs()).toBeGreaterThan(nowMs);
          expect(settle.size).toBe(before - took);
        }
      }),
    );
  });

  test('[LC4] 50,000 marks cost no search for the next one', () => {
    const settle = new Settle();
    const startedMs = performance.now();
    for (let index = 0; index < 50_000; index++) {
      settle.mark(`d/${index}`, 0);
      settle.nextDueMs();
    }
    // A search through all of them at each mark took half a minute.
    expect(performance.now() - startedMs).toBeLessThan(3_000);
    expect(settle.nextDueMs()).toBe(quietMsMin);
  });
});

describe('when a large file is read', () => {
  const MiB = 1_048_576;
  const unsettled = (firstMs: number, lastMs: number): DirtyPath => ({ path: 'p', firstMs, lastMs, dueMs: 0 });

  test.each<{
    readonly name: string;
    readonly first: number;
    readonly last: number;
    readonly size: number;
    readonly modifiedAgo: number;
    readonly now: number;
    readonly due: number | undefined;
  }>([
    { name: 'still for a moment', first: 0, last: 0, size: 2 * MiB, modifiedAgo: 50, now: 50, due: undefined },
    { name: 'an event a moment ago', first: 0, last: 40, size: 2 * MiB, modifiedAgo: 60, now: 60, due: 110 },
    { name: 'written a moment ago', first: 0, last: 0, size: 2 * MiB, modifiedAgo: 10, now: 60, due: 110 },
    {
      name: 'a time in the future proves nothing',
      first: 0,
      last: 0,
      size: 2 * MiB,
      modifiedAgo: -1,
      now: 50,
      due: undefined,
    },
    { name: 'growing for seconds', first: 0, last: 3_990, size: 2 * MiB, modifiedAgo: 5, now: 3_995, due: 4_000 },
    { name: 'growing for longer', first: 0, last: 4_000, size: 2 * MiB, modifiedAgo: 49, now: 4_049, due: 4_099 },
    { name: 'growing all the time', first: 0, last: 4_049, size: 2 * MiB, modifiedAgo: 1, now: 4_050, due: undefined },
    {
      name: 'the larger, the longer',
      first: 0,
      last: 3_999,
      size: 1_024 * MiB,
      modifiedAgo: 1,
      now: 4_000,
      due: 4_050,
    },
    {
      name: 'but with an end',
      first: 0,
      last: 22_500,
      size: 1_024 * MiB,
      modifiedAgo: 1,
      now: 22_501,
      due: undefined,
    },
  ])('[LC4] $name', ({ first, last, size, modifiedAgo, now, due: expected }) => {
    expect(largeFileDueMs(unsettled(first, last), size, modifiedAgo, now)).toBe(expected);
  });
});

test('[CL27] the paths that must wait for their check are shown, not those that settle in a moment', () => {
  const settle = new Settle();
  settle.mark('saved', 100);
  for (let count = 0; count < 12; count++) settle.published('log', 100);
  settle.mark('log', 100);
  settle.mark('film', 100);
  const [film] = settle.takeDue(101, 10).filter(({ path }) => path === 'film');
  settle.mark('saved', 101);
  if (film) settle.defer({ ...film, isLarge: true }, 151);
  settle.defer({ path: 'unreadable', firstMs: 100, lastMs: 100 }, 2_100);
  settle.defer({ path: 'gone', firstMs: 100, lastMs: 100, missingSinceMs: 100 }, 2_100);
  expect(settle.changing(101).map(({ path, dueMs }) => [path, dueMs])).toEqual([
    ['log', 100 + quietMsMax],
    ['film', 151],
  ]);
  settle.mark('film', 140);
  expect(settle.changing(141).map(({ path }) => path)).toEqual(['log', 'film']);
});

describe('a path that was found absent', () => {
  function found(settle: Settle, path: string, missingSinceMs: number): void {
    settle.defer({ path, firstMs: missingSinceMs, lastMs: missingSinceMs, missingSinceMs }, missingSinceMs + 2_000);
  }

  test('[LC14] is due when the paths that appeared before were checked and its hold is over', () => {
    const settle = new Settle();
    found(settle, 'p', 100);
    found(settle, 'q', 105);
    settle.confirmVanished(104, 110);
    expect(due(settle, 100 + vanishedHoldMs - 1)).toEqual([]);
    expect(due(settle, 100 + vanishedHoldMs)).toEqual(['p']);
    settle.confirmVanished(105, 500);
    expect(due(settle, 500)).toEqual(['q']);
  });

  test('[LC14] is checked soon after another event, whatever it waited for', () => {
    const settle = new Settle();
    found(settle, 'p', 100);
    settle.mark('p', 110);
    settle.mark('p', 111);
    expect(due(settle, 110 + quietMsMin)).toEqual(['p']);
  });

  test('[LC14] a path that changed and was not checked since is unseen; a deferred path is not, nor one that changes all the time', () => {
    const settle = new Settle();
    settle.mark('new', 100);
    found(settle, 'gone', 100);
    for (let count = 0; count < 4; count++) settle.published('log', 100);
    settle.mark('log', 101);
    expect(settle.unseen(101)).toEqual(['new']);
    settle.mark('gone', 102);
    expect(settle.unseen(102)).toEqual(['new', 'gone']);
    expect(due(settle, 200)).toEqual(expect.arrayContaining(['new', 'gone', 'log']));
    expect(settle.unseen(200)).toEqual([]);
  });

  test('[LC14] a path whose check could not tell which entry is there stays unseen', () => {
    const settle = new Settle();
    settle.keepUnseen('unread');
    expect(settle.unseen(200)).toEqual([]);
    settle.defer({ path: 'unread', firstMs: 100, lastMs: 100 }, 2_100);
    settle.keepUnseen('unread');
    expect(settle.unseen(200)).toEqual(['unread']);
    expect(settle.nextDueMs()).toBe(2_100);
  });
});
