import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchAgent } from './agent-watch.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('[FM7] the mount knows within seconds that the agent does not answer, and that it does again', async () => {
  let answers = true;
  const changes: boolean[] = [];
  const ask = (): Promise<void> => (answers ? Promise.resolve() : Promise.reject(new Error('away')));
  const watch = watchAgent(ask, (isUp) => changes.push(isUp));
  await vi.advanceTimersByTimeAsync(20_000);
  expect([watch.isUp(), changes]).toEqual([true, []]);
  answers = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect([watch.isUp(), changes]).toEqual([false, [false]]);
  answers = true;
  await vi.advanceTimersByTimeAsync(2_000);
  expect([watch.isUp(), changes]).toEqual([true, [false, true]]);
  watch.stop();
  answers = false;
  await vi.advanceTimersByTimeAsync(20_000);
  expect(changes).toEqual([false, true]);
});
