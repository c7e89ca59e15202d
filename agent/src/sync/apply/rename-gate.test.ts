import type { Operation } from '@lockstep/shared';
import { groupTimeoutMs } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { directoriesOf, openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';

/** A member that received two operations of bee: the first one of a rename of `span` operations, and one of another path. */
async function heldUp(span: number) {
  const bee = new ScriptedPeer('b');
  const member = openTestMember([bee]);
  void member.engine.start();
  expect(await member.until(() => member.engine.lifecycle.state === 'active', 10_000)).toBe(true);
  const [held, other] = directoriesOf(bee, 1, 2) as [Operation, Operation];
  bee.known = { [bee.origin]: 2 };
  bee.sayOperations([{ ...held, from: 'gone', group: 1, span }, other]);
  expect(await member.until(() => member.volume.disk.at('b2') !== undefined, 1_000)).toBe(true);
  const isShown = (): boolean => member.volume.disk.at('b1') !== undefined;
  return { bee, isShown, ...member };
}

describe('[LC12]', () => {
  test('a group that its origin never completes is applied as it is after a time without progress', async () => {
    const { isShown, until } = await heldUp(1_000);
    expect(await until(isShown, groupTimeoutMs - 2_000)).toBe(false);
    expect(await until(isShown, 4_000)).toBe(true);
  });

  test('a group that makes progress, however slowly, is waited for', async () => {
    const { bee, isShown, until } = await heldUp(5);
    for (const seq of [3, 4]) {
      expect(await until(isShown, groupTimeoutMs - 2_000)).toBe(false);
      bee.sayOperations(directoriesOf(bee, seq, seq));
    }
    expect(await until(isShown, groupTimeoutMs - 2_000)).toBe(false);
    bee.sayOperations(directoriesOf(bee, 5, 5));
    expect(await until(isShown, 1_000)).toBe(true);
  });

  test('a group whose origin disconnects is applied at once', async () => {
    const { bee, isShown, until } = await heldUp(5);
    expect(await until(isShown, 5_000)).toBe(false);
    bee.end('gone');
    expect(await until(isShown, 100)).toBe(true);
  });
});
