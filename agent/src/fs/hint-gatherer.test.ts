import { eventBurstMax } from '@lockstep/shared';
import { afterEach, expect, test, vi } from 'vitest';
import type { WatchHint } from '../sync/ports/folder.ts';
import { HintGatherer } from './hint-gatherer.ts';

const wholeFolder = [{ kind: 'directory', path: '', recursive: true }];
let gatherer: HintGatherer | undefined;

function gather(nowMs?: () => number): { hints: HintGatherer; delivered: (readonly WatchHint[])[] } {
  const delivered: (readonly WatchHint[])[] = [];
  gatherer = new HintGatherer((hints) => delivered.push(hints), nowMs);
  return { hints: gatherer, delivered };
}

afterEach(() => {
  gatherer?.close();
  vi.useRealTimers();
});

test('hints of one turn are delivered once and together', async () => {
  const { hints, delivered } = gather();
  hints.path('a');
  hints.directory('d', true);
  hints.path('a');
  hints.directory('d', false);
  await vi.waitFor(() => expect(delivered).toHaveLength(1));
  expect(delivered[0]).toEqual([
    { kind: 'path', path: 'a' },
    { kind: 'directory', path: 'd', recursive: true },
  ]);
  hints.path('b');
  await vi.waitFor(() => expect(delivered).toHaveLength(2));
});

test('[WT3] a burst in one turn becomes one look at the whole folder', async () => {
  const { hints, delivered } = gather();
  for (let event = 0; event <= eventBurstMax; event++) {
    hints.countEvent();
    hints.path(`file ${event}`);
  }
  await vi.waitFor(() => expect(delivered).toHaveLength(1));
  expect(delivered[0]).toEqual(wholeFolder);
  hints.countEvent();
  hints.path('later');
  await vi.waitFor(() => expect(delivered).toHaveLength(2));
  expect(delivered[1]).toEqual([{ kind: 'path', path: 'later' }]);
});

test.each([
  ['a stall', 1_300, 1],
  ['a tick that is only late', 900, 0],
])('[WT3] %s of the event loop', (_name, lateMs, looks) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'] });
  let nowMs = 0;
  const { delivered } = gather(() => nowMs);
  nowMs += lateMs;
  vi.advanceTimersByTime(250);
  nowMs += 250;
  vi.advanceTimersByTime(250);
  expect(delivered).toEqual(looks === 0 ? [] : [wholeFolder]);
});
