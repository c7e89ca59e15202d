import { eventBurstMax } from '@lockstep/shared';
import { afterEach, expect, test, vi } from 'vitest';
import type { WatchHint } from '../../sync/ports/folder.ts';
import { HintGatherer, isStall } from './hint-gatherer.ts';

/** In milliseconds: long enough for a machine that is busy with other tests. */
const patience = 20_000;

const wholeFolder = [{ kind: 'directory', path: '', recursive: true }];
let gatherer: HintGatherer | undefined;

function gather(): { hints: HintGatherer; delivered: (readonly WatchHint[])[] } {
  const delivered: (readonly WatchHint[])[] = [];
  gatherer = new HintGatherer((hints) => delivered.push(hints));
  return { hints: gatherer, delivered };
}

afterEach(() => gatherer?.close());

test('hints of one turn are delivered once and together', async () => {
  const { hints, delivered } = gather();
  hints.path('a');
  hints.directory('d', true);
  hints.path('a');
  hints.directory('d', false);
  await vi.waitFor(() => expect(delivered).toHaveLength(1), patience);
  expect(delivered[0]).toEqual([
    { kind: 'path', path: 'a' },
    { kind: 'directory', path: 'd', recursive: true },
  ]);
  hints.path('b');
  await vi.waitFor(() => expect(delivered).toHaveLength(2), patience);
});

test('[WT3] a burst in one turn becomes one hint for the whole folder', async () => {
  const { hints, delivered } = gather();
  for (let event = 0; event <= eventBurstMax; event++) {
    hints.countEvent();
    hints.path(`file ${event}`);
  }
  await vi.waitFor(() => expect(delivered).toHaveLength(1), patience);
  expect(delivered[0]).toEqual(wholeFolder);
  hints.countEvent();
  hints.path('later');
  await vi.waitFor(() => expect(delivered).toHaveLength(2), patience);
  expect(delivered[1]).toEqual([{ kind: 'path', path: 'later' }]);
});

test('[WT3] a stall of the event loop counts as a loss of events, a late tick does not', async () => {
  expect(isStall(1_000, 1_000 + 2_300)).toBe(true);
  expect(isStall(1_000, 1_000 + 1_900)).toBe(false);
  const { hints, delivered } = gather();
  hints.path('a');
  hints.loseTrack();
  hints.path('b');
  await vi.waitFor(() => expect(delivered).toEqual([wholeFolder]), patience);
});
