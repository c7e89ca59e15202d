import { type Operation, type PullMessage, pullTimeoutMs } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { directoriesOf, noMarks, openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';

/** Ten directories of cat, which is unreachable; ant, the oldest member, and bee know them. */
function threeMembers() {
  const [ant, bee, cat] = ['a', 'b', 'c'].map((letter) => new ScriptedPeer(letter)) as [
    ScriptedPeer,
    ScriptedPeer,
    ScriptedPeer,
  ];
  const operations = directoriesOf(cat, 1, 10);
  for (const peer of [ant, bee]) peer.known = { [cat.origin]: operations.length };
  bee.enabledAt = 2;
  const member = openTestMember([ant, bee]);
  /** Makes the peer answer pulls with the first `count` operations, and with `done` if these are all. */
  const answers = (peer: ScriptedPeer, count = operations.length): void => {
    peer.answer = (message) => {
      if (message.type === 'pull') reply(peer, message, count);
    };
  };
  const reply = (peer: ScriptedPeer, { id, known }: PullMessage, count: number): void => {
    peer.say({ type: 'pulled', id, total: operations.length, done: false });
    const rest = operations.slice(known[cat.origin] ?? 0, count);
    if (rest.length > 0) peer.sayOperations(rest);
    if (count === operations.length) peer.say({ type: 'pulled', id, total: operations.length, done: true });
  };
  void member.engine.start();
  return { ant, bee, cat, operations, answers, isActive: () => member.engine.lifecycle.state === 'active', ...member };
}

describe('[SY2] the next oldest is asked from where the oldest stopped', () => {
  test('when that one is connected and sends heartbeats, but no more operations', async () => {
    const { ant, bee, cat, answers, isActive, until } = threeMembers();
    answers(ant, 3);
    answers(bee);
    expect(await until(isActive, pullTimeoutMs - 1_000)).toBe(false);
    expect(bee.all('pull')).toEqual([]);
    expect(await until(isActive, 5_000)).toBe(true);
    expect(bee.all('pull').map(({ known }) => known[cat.origin])).toEqual([3]);
    expect(ant.ends).toEqual([]);
  });

  test('when that one has fallen silent', async () => {
    const { ant, bee, cat, answers, isActive, until } = threeMembers();
    answers(ant, 3);
    answers(bee);
    expect(await until(() => ant.all('pull').length > 0, 5_000)).toBe(true);
    ant.beats = false;
    expect(await until(isActive, 13_000)).toBe(true);
    expect(bee.all('pull').map(({ known }) => known[cat.origin])).toEqual([3]);
  });

  test('but not when it is only slow', async () => {
    const { ant, bee, operations, isActive, until } = threeMembers();
    expect(await until(() => ant.all('pull').length > 0, 5_000)).toBe(true);
    const [{ id }] = ant.all('pull') as [PullMessage];
    for (const operation of operations) {
      expect(await until(isActive, pullTimeoutMs - 2_000)).toBe(false);
      ant.sayOperations([operation]);
    }
    ant.say({ type: 'pulled', id, total: operations.length, done: true });
    expect(await until(isActive, 5_000)).toBe(true);
    expect(bee.all('pull')).toEqual([]);
  });

  test('nor when no other member has the operations', async () => {
    const { ant, bee, operations, isActive, until } = threeMembers();
    bee.known = {};
    expect(await until(isActive, 5 * pullTimeoutMs)).toBe(false);
    const [{ id }] = ant.all('pull') as [PullMessage];
    ant.sayOperations(operations);
    ant.say({ type: 'pulled', id, total: operations.length, done: true });
    expect(await until(isActive, 5_000)).toBe(true);
    expect(ant.all('pull')).toHaveLength(1);
  });

  test('and each in turn while all stall', async () => {
    const { ant, bee, answers, isActive, until } = threeMembers();
    expect(await until(isActive, 2.5 * pullTimeoutMs)).toBe(false);
    expect([ant.all('pull').length, bee.all('pull').length]).toEqual([1, 1]);
    answers(ant);
    expect(await until(isActive, 2 * pullTimeoutMs)).toBe(true);
    expect([ant.all('pull').length, bee.all('pull').length]).toEqual([2, 1]);
  });

  test('and one that claims operations that it lacks is not asked without end', async () => {
    const { ant, bee, answers, isActive, until } = threeMembers();
    for (const peer of [ant, bee]) {
      answers(peer);
      peer.known = { ...peer.known, [ant.origin]: 1_000 };
    }
    expect(await until(isActive, 20_000)).toBe(true);
    await until(() => false, 60_000);
    expect(ant.all('pull').length + bee.all('pull').length).toBeLessThan(20);
  });
});

test('[SY7] a newcomer becomes active while others make operations faster than it can catch up', async () => {
  const { ant, cat, journal, isActive, until } = threeMembers();
  let made = 10;
  const make = (): void => {
    if (made === 2_000) return;
    made += 5;
    ant.known = { [cat.origin]: made };
    ant.say({ type: 'ack', known: ant.known, marks: noMarks, applied: { vector: ant.known, ranges: {} } });
  };
  ant.answer = (message) => {
    if (message.type !== 'pull') return;
    const { id, known } = message;
    const first = (known[cat.origin] ?? 0) + 1;
    const operations: readonly Operation[] = directoriesOf(cat, first, made);
    ant.sayOperations(operations);
    // At the end of each pull there are already more operations.
    make();
    ant.say({ type: 'pulled', id, total: operations.length, done: true });
  };
  expect(await until(isActive, 60_000)).toBe(true);
  expect(made).toBeLessThan(2_000);
  expect(await until(() => journal.totals.counts().directories === 2_000, 60_000)).toBe(true);
});
