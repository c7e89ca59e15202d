import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';

const mebibyte = 1_048_576;

test.each([
  { free: 1_000, remedy: 'raise cache_size' },
  { free: 20, remedy: 'free some space on this disk' },
])('[CP4] a member without room for its copies says what gives it some: $remedy', async ({ free, remedy }) => {
  const { engine, until } = openTestMember([new ScriptedPeer('b')], { onDemand: true });
  const { context, cache, copies } = engine;
  const room = { freeBytes: free * mebibyte, totalBytes: 2_000 * mebibyte };
  context.folder.health = () => Promise.resolve({ ok: true, room });
  copies.keeper.lacking = () => ({ files: 3, bytes: 9 * mebibyte, isFull: true, isUnavailable: false });
  void engine.start();
  cache.room.limit({ bytes: 100 * mebibyte });
  expect(await until(() => context.problems.has('copies-full'), 60_000)).toBe(true);
  await until(() => false, 5_000);
  const [problem] = context.problems.list().filter(({ code }) => code === 'copies-full');
  expect(problem?.detail).toContain(`If this stays: ${remedy},`);
});
