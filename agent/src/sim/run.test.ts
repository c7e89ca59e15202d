import { expect, test } from 'vitest';
import { runSeed } from './run.ts';

test('a seed gives the same run each time, told or not', async () => {
  const first = await runSeed(32, { tellsStory: true });
  const again = await runSeed(32, { tellsStory: true });
  const untold = await runSeed(32, { tellsStory: false });
  expect(first.story.length).toBeGreaterThan(50);
  expect(again.story).toEqual(first.story);
  expect(untold.story).toEqual([]);
  expect([again.tasks, untold.tasks]).toEqual([first.tasks, first.tasks]);
});
