import { problemsMax } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { directoriesOf, openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { readStatus } from './status.ts';

const place = { folder: '/folder', address: 'localhost:1', dashboard: 'localhost:2', startedMs: 0 };

test.each([3_600_000, -3_600_000])(
  '[DR1] a clock that is set by %i ms does not change how long the agent is up',
  async (byMs) => {
    const { engine, wall, until } = openTestMember([]);
    await until(() => false, 90_000);
    wall.step(byMs);
    const { now, member } = readStatus(engine, place);
    expect(now - member.startedAt).toBeCloseTo(90_000, -1);
  },
);

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

test('[DB-A14] to a newcomer, a member that knows more than it is not behind', async () => {
  const ant = new ScriptedPeer('a');
  ant.known = { [ant.origin]: 2 };
  const { engine, until } = openTestMember([ant]);
  void engine.start();
  const knows = (seq: number) => engine.context.journal.log.known()[ant.origin] === seq;
  expect(await until(() => engine.peers.get(ant.id)?.ready === true, 10_000)).toBe(true);
  // The second one does not come: the logs cannot be compared yet.
  ant.sayOperations(directoriesOf(ant, 1, 1));
  expect(await until(() => knows(1), 10_000)).toBe(true);
  // A member's own operations of the last seconds count as held by it in any case.
  expect(await until(() => false, 6_000)).toBe(false);
  expect(readStatus(engine, place).members).toMatchObject([{ self: true }, { id: ant.id, behind: 0 }]);
});

test('[DB-A14] a member without room for its journal is behind by what the others have', async () => {
  const ant = new ScriptedPeer('a');
  const { engine, until } = openTestMember([ant]);
  void engine.start();
  expect(await until(() => engine.peers.get(ant.id)?.ready === true, 10_000)).toBe(true);
  // Its operation never comes, as if it were refused.
  ant.known = { [ant.origin]: 1 };
  ant.end('cut');
  const isHeard = (): boolean => {
    const peer = engine.peers.get(ant.id);
    return peer?.ready === true && peer.known[ant.origin] === 1;
  };
  expect(await until(isHeard, 60_000)).toBe(true);
  engine.context.problems.set('disk-full', {}, 'The disk is full.');
  expect(readStatus(engine, place).members).toMatchObject([{ self: true, behind: 1 }, { id: ant.id }]);
});

test('[CL5] lists the problems of the member before those of its paths, however many these are', async () => {
  const { engine, until } = openTestMember([]);
  void engine.start();
  expect(await until(() => engine.lifecycle.state === 'active', 60_000)).toBe(true);
  const { problems } = engine.context;
  for (let index = 0; index < problemsMax + 5; index++) {
    problems.set('path-permission', { path: `${index}` }, 'It cannot be read.');
  }
  problems.set('sync-failed', {}, 'It cannot be made durable.');
  const seen = readStatus(engine, place);
  expect(seen.problems[0]).toMatchObject({ code: 'sync-failed' });
  expect(seen.problemCount).toBe(problemsMax + 6);
  for (let index = 0; index < problemsMax; index++) problems.clearPath(`${index}`);
  expect(readStatus(engine, place)).toMatchObject({ problems: [{ code: 'sync-failed' }], problemCount: 1 });
});
