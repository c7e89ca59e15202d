import { expect, onTestFinished, test } from 'vitest';
import { directoriesOf, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { openJournal } from '../../store/journal.ts';
import { showsUpTo } from './start-up.ts';

test('[SY7] operations newer than the goal may be pending, older ones may not', () => {
  const [ant, bee] = [new ScriptedPeer('a'), new ScriptedPeer('b')];
  const journal = openJournal({ path: ':memory:', memberId: ant.id, random: () => 0, nowMs: () => 0 });
  onTestFinished(() => journal.close());
  const operations = directoriesOf(bee, 1, 4);
  journal.append(operations);
  const goal = { [bee.origin]: 3 };
  const fingerprint = { ino: 1, size: 0, mtimeMs: 0, ctimeMs: 0, mode: 0o40755 };
  const show = (seq: number): void => {
    journal.recordDisk([
      { path: operations[seq - 1]?.path ?? '', entry: { dot: { origin: bee.origin, seq }, fingerprint } },
    ]);
  };
  const answers: boolean[][] = [];
  for (const seq of [4, 1, 2, 3]) {
    show(seq);
    answers.push([0, 1].map((exceptions) => showsUpTo(journal, goal, exceptions)));
  }
  expect(answers).toEqual([
    [false, false],
    [false, false],
    [false, true],
    [true, true],
  ]);
  journal.append(directoriesOf(bee, 5, 5));
  expect(showsUpTo(journal, goal, 0)).toBe(true);
  expect(showsUpTo(journal, { [bee.origin]: 5 }, 0)).toBe(false);
});
