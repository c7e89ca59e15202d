import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../test/support/scripted-peer.ts';

test('[MB1] a message that takes long to arrive is no silence, and nothing at all for 10 s is', async () => {
  const bee = new ScriptedPeer('b');
  const { engine, scheduler, until } = openTestMember([bee]);
  void engine.start();
  expect(await until(() => engine.state === 'active', 10_000)).toBe(true);
  bee.beats = false;
  const trickle = () => {
    bee.partialBytes += 1_000;
    if (bee.partialBytes < 30_000) scheduler.after(1_000, trickle);
  };
  trickle();
  expect(await until(() => bee.ends.length > 0, 29_000)).toBe(false);
  expect(await until(() => bee.ends.length > 0, 13_000)).toBe(true);
  expect(bee.ends).toEqual(['nothing was heard of it for 10 s']);
});
