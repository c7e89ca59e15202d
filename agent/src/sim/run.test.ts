import { expect, test } from 'vitest';
import { runSeed } from './run.ts';

test.each([false, true])(
  'a seed gives the same run each time, with or without a story (encounters: %s)',
  async (hasEncounters) => {
    const first = await runSeed(32, { keepsStory: true, hasEncounters });
    const again = await runSeed(32, { keepsStory: true, hasEncounters });
    const withoutStory = await runSeed(32, { keepsStory: false, hasEncounters });
    expect(first.story.length).toBeGreaterThan(50);
    expect(again.story).toEqual(first.story);
    expect(withoutStory.story).toEqual([]);
    expect([again.tasks, withoutStory.tasks]).toEqual([first.tasks, first.tasks]);
  },
);
