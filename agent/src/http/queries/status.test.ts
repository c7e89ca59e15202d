import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { readStatus } from './status.ts';

const place = { folder: '/folder', address: 'localhost:1', dashboard: 'localhost:2', startedAt: 0 };

test('[SY21] a member that lacks operations of another one is not synchronised, even while that one is away', async () => {
  const ant = new ScriptedPeer('a');
  const { engine, until } = openTestMember([ant]);
  const isAway = (): boolean => engine.peers.get(ant.id)?.ready !== true;
  const isSynchronised = (): boolean => readStatus(engine, place).synchronised;
  void engine.start();
  expect(await until(() => engine.lifecycle.state === 'active' && !isAway(), 10_000)).toBe(true);
  ant.end('cut');
  expect(await until(() => isAway() && isSynchronised(), 5_000)).toBe(true);
  ant.known = { [ant.origin]: 1 };
  expect(await until(() => engine.peers.get(ant.id)?.known[ant.origin] === 1, 60_000)).toBe(true);
  ant.end('cut');
  expect(await until(isAway, 5_000)).toBe(true);
  expect(isSynchronised()).toBe(false);
});
