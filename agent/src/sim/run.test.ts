import { expect, test } from 'vitest';
import { runSeed } from './run.ts';

test('a seed gives the same run each time, with or without a story', async () => {
  const first = await runSeed(32, { keepsStory: true });
  const again = await runSeed(32, { keepsStory: true });
  const withoutStory = await runSeed(32, { keepsStory: false });
  expect(first.story.length).toBeGreaterThan(50);
  expect(again.story).toEqual(first.story);
  expect(withoutStory.story).toEqual([]);
  expect([again.tasks, withoutStory.tasks]).toEqual([first.tasks, first.tasks]);
});
