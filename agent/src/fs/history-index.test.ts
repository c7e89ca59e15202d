import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ContentId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { HistoryIndex } from './history-index.ts';

const count = 2_000;
const contentOf = (number: number): ContentId => `content-${number}` as ContentId;

test('[ST3] history is trimmed in parts, between which other tasks run, also if no version may go', async () => {
  const forgotten: string[] = [];
  const run = (job: string, input: unknown): Promise<never> => {
    if (job === 'forgetHistory') forgotten.push(...(input as readonly string[]));
    return Promise.resolve([] as never);
  };
  const index = new HistoryIndex({ run }, { wallMs: () => count, monotonicMs: () => 0, turn: () => nextTurn() });
  await index.count();
  const versions = Array.from({ length: count }, (_, number) => {
    return { content: contentOf(number), bytes: 1, keptAtMs: number };
  });
  index.add(versions);
  let examined = 0;
  let mostAtOnce = 0;
  let isOver = false;
  const limits = { bytesMax: 10, filesMax: count, ageMsMax: count };
  const trimmed = index
    .trim(limits, () => {
      examined++;
      return true;
    })
    .finally(() => {
      isOver = true;
    });
  while (!isOver) {
    const before = examined;
    await nextTurn();
    mostAtOnce = Math.max(mostAtOnce, examined - before);
  }
  await trimmed;
  expect(examined).toBe(count);
  expect(mostAtOnce).toBeLessThan(count / 2);
  expect(forgotten).toEqual([]);
  await index.trim(limits, (content) => content === contentOf(1));
  const gone = versions.map(({ content }) => content).filter((_, at) => at !== 1 && at < count - 9);
  expect(forgotten).toEqual(gone);
  expect(index.use).toEqual({ versions: 10, bytes: 10 });
});
