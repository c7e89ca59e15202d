import { type MemberId, memberPath } from '@lockstep/shared';
import { expect, onTestFinished, test } from 'vitest';
import { directoriesOf, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { openJournal } from '../../store/journal.ts';
import type { Peer } from '../members/peer.ts';
import { showsUpTo, untilGreeted } from './start-up.ts';

test('[SY7] operations newer than the goal may be pending, older ones may not', () => {
  const [ant, bee] = [new ScriptedPeer('a'), new ScriptedPeer('b')];
  const journal = openJournal({ path: ':memory:', memberId: ant.id, random: () => 0, nowMs: () => 0 });
  onTestFinished(() => journal.close());
  const operations = directoriesOf(bee, 1, 4);
  journal.append(operations);
  const goal = { [bee.origin]: 3 };
  const fingerprint = { ino: 1, size: 0, mtimeMs: 0, ctimeMs: 0, mode: 0o40755 };
  const show = (seq: number): void => {
    journal.disk.record([
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

test('[JN4] a member without a journal that knows addresses of others waits until one of them has dialled it', async () => {
  const bee = 'bee' as MemberId;
  const greeted = async (
    knowsOthers: boolean,
  ): Promise<{ readonly ant: LoneMember; readonly isOver: () => boolean }> => {
    const ant = new LoneMember();
    let isOver = false;
    void untilGreeted(ant.context, ant.peers, knowsOthers).then(() => {
      isOver = true;
    });
    ant.context.facts.roundDialled.publish();
    await ant.passes(1_000);
    return { ant, isOver: () => isOver };
  };
  expect((await greeted(false)).isOver()).toBe(true);

  const { ant, isOver } = await greeted(true);
  expect(isOver()).toBe(false);
  const record = { id: bee, name: 'bee', addresses: [], membership: 'joined' } as const;
  ant.received({ ...ant.operation(memberPath(bee), { kind: 'member' }), member: record });
  ant.peers.learn();
  const peer = ant.peers.get(bee) as Peer;
  peer.hello = { addresses: [] } as unknown as Peer['hello'];
  ant.context.facts.sessionOpened.publish(bee);
  await ant.passes(10);
  expect(isOver()).toBe(true);
});
