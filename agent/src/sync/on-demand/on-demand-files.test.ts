import type { Operation } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { blockOf, virtualContent } from '../../sim/disk/content.ts';

const film = virtualContent('film', 100_000);

test('[OD2] each of several readers at the same time counts as one read, also of a file that is being brought for no reader', async () => {
  const bee = new ScriptedPeer('b');
  const { engine, journal, until } = openTestMember([bee], { onDemand: true });
  const questions: (() => void)[] = [];
  bee.answer = (message) => {
    if (message.type !== 'want') return;
    questions.push(() => bee.say({ type: 'block', id: message.id, bytes: blockOf(film, message.index) }));
  };
  void engine.start();
  expect(await until(() => engine.lifecycle.state === 'active', 10_000)).toBe(true);
  const { id: content, size, blocks } = film;
  const put = { origin: bee.origin, seq: 1, hlc: 1, path: 'film', version: { vector: { [bee.origin]: 1 } } };
  bee.sayOperations([{ ...put, kind: 'put', mode: 0o644, mtimeUs: 0, content, size, blocks } as Operation]);
  expect(await until(() => journal.disk.at('film')?.remote === true, 10_000)).toBe(true);
  const read: string[] = [];
  engine.onDemand.read.on(({ path, found }) => read.push(`${path} ${found}`));
  const brought = engine.onDemand.bring('film');
  const goesOn = engine.onDemand.fetch('film', { goesOn: true });
  const fetched = [engine.onDemand.fetch('film'), engine.onDemand.fetch('film')];
  expect(await until(() => questions.length > 0, 5_000)).toBe(true);
  for (const answer of questions) answer();
  expect(await until(() => engine.onDemand.arrival.isHere('film'), 5_000)).toBe(true);
  await until(() => read.length === 2, 5_000);
  const outcomes = await Promise.all([brought, goesOn, ...fetched]);
  expect(outcomes).toEqual(outcomes.map(() => ({ isHere: true })));
  expect(engine.onDemand.report()).toMatchObject({ hits: 0, misses: 2, fetchedBytes: size });
  expect(read).toEqual(['film elsewhere', 'film elsewhere']);
  expect(questions).toHaveLength(1);
});
