import { expect, test } from 'vitest';
import { directoriesOf, openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';

test('[MB1] a message that takes long to arrive is no silence; 10 s without a byte are', async () => {
  const bee = new ScriptedPeer('b');
  const { engine, scheduler, until } = openTestMember([bee]);
  void engine.start();
  expect(await until(() => engine.lifecycle.state === 'active', 10_000)).toBe(true);
  bee.beats = false;
  const trickle = () => {
    bee.partialBytes += 1_000;
    if (bee.partialBytes < 30_000) scheduler.after(1_000, trickle);
  };
  trickle();
  expect(await until(() => bee.ends.length > 0, 29_000)).toBe(false);
  expect(await until(() => bee.ends.length > 0, 13_000)).toBe(true);
  expect(bee.ends).toEqual(['nothing was heard from it for 10 s']);
});

test('[FK8] a digest that differs under equal numbers leads to the comparison of all logs, and a fork is repaired', async () => {
  const bee = new ScriptedPeer('b');
  const { origin } = bee;
  bee.known = { [origin]: 3 };
  bee.answer = (message) => {
    if (message.type !== 'pull') return;
    bee.sayOperations(directoriesOf(bee, 1, 3));
    bee.say({ type: 'pulled', id: message.id, total: 3, done: true });
  };
  const { engine, journal, until } = openTestMember([bee]);
  void engine.start();
  expect(await until(() => journal.known()[origin] === 3 && engine.lifecycle.state === 'active', 20_000)).toBe(true);
  // It sends no marks with its numbers, so that no log was compared yet. Its third operation is another one.
  bee.known = journal.known();
  expect(await until(() => bee.all('fork').length === Object.keys(bee.known).length, 20_000)).toBe(true);
  const report = bee.all('fork').find((one) => one.origin === origin);
  expect(report?.seqs).toEqual([3, 2, 1]);
  expect(Buffer.from(report?.marks ?? []).toString('hex')).toBe(
    [3, 2, 1].map((seq) => journal.mark(origin, seq)).join(''),
  );
  expect(engine.context.problems.list()).toMatchObject([{ code: 'digest-mismatch' }]);
  bee.say({ type: 'sealed', origins: { [origin]: 2 } });
  expect(await until(() => journal.seals()[origin] === 2, 5_000)).toBe(true);
  expect(journal.heads('b3')).toMatchObject([{ kind: 'mkdir', origin: journal.origin }]);
  expect(bee.ends).toEqual([]);
});
