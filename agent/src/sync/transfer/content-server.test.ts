import type { Operation, WantMessage } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { Story } from '../../sim/base/story.ts';
import { blockOf, virtualContent } from '../../sim/disk/content.ts';
import { Ledger } from '../../sim/users/ledger.ts';
import { UserShell } from '../../sim/users/user-shell.ts';

const mebibyte = 1_048_576;

/** A member with a film of 20 blocks that sends 256 KiB/s, and a peer that requests its first eight. */
async function requested() {
  const bee = new ScriptedPeer('b');
  const member = openTestMember([bee]);
  const { engine, volume, scheduler, until } = member;
  void engine.start();
  expect(await until(() => engine.peers.ready().length === 1, 10_000)).toBe(true);
  engine.context.limits.send.limit([{ bytesPerSecond: 262_144 }]);
  const film = virtualContent('film', 20 * mebibyte);
  const story = new Story(false, () => scheduler.nowMs);
  new UserShell({ name: 'zoe', disk: volume.disk, ledger: new Ledger(), story }).write('film', 'film', film);
  expect(await until(() => member.journal.heads.at('film').length === 1, 10_000)).toBe(true);
  const wants = Array.from({ length: 8 }, (_, index): WantMessage => {
    return { type: 'want', id: index + 1, content: film.id, index, path: 'film' };
  });
  for (const want of wants) bee.say(want);
  const answeredIds = (type: 'block' | 'missing') => bee.all(type).map(({ id }) => id);
  return { ...member, bee, answeredIds };
}

/** The ids of the requests, without these. */
function idsBut(...left: readonly (number | undefined)[]): readonly number[] {
  return [1, 2, 3, 4, 5, 6, 7, 8].filter((id) => !left.includes(id));
}

test('[CT10] a want that is withdrawn before its block begins to leave is answered without the block', async () => {
  const { bee, until, answeredIds } = await requested();
  expect(await until(() => answeredIds('block').length === 1, 10_000)).toBe(true);
  const [first] = answeredIds('block');
  const [one, other, ...withdrawn] = idsBut(first);
  bee.say({ type: 'withdraw', ids: [first ?? 0, ...withdrawn, 99] });
  expect(await until(() => answeredIds('block').length === 3, 60_000)).toBe(true);
  // The first had left.
  expect(answeredIds('block').toSorted()).toEqual([first, one, other].toSorted());
  expect(answeredIds('missing').toSorted()).toEqual(withdrawn);
  expect(bee.all('missing').every(({ lacks }) => !lacks)).toBe(true);
});

test('[CT10] a withdrawn want uses up no limit', async () => {
  const { bee, until, answeredIds, scheduler } = await requested();
  expect(await until(() => answeredIds('block').length === 1, 10_000)).toBe(true);
  const [first] = answeredIds('block');
  const [last = 0, ...withdrawn] = [...idsBut(first)].reverse();
  const startedMs = scheduler.nowMs;
  bee.say({ type: 'withdraw', ids: withdrawn });
  expect(await until(() => answeredIds('block').includes(last), 60_000)).toBe(true);
  // A block takes 4 s.
  expect(scheduler.nowMs - startedMs).toBeLessThan(4_500);
});

// Simulator, seed 114654: the member that asked dropped the only copy that a power cut would have left.
test('[OD10] a member keeps no content for certain below a directory that is not durable', async () => {
  const bee = new ScriptedPeer('b');
  const { engine, journal, volume, until } = openTestMember([bee]);
  const { id: content, size, blocks } = virtualContent('song', 100_000);
  bee.answer = (message) => {
    if (message.type !== 'want') return;
    bee.say({ type: 'block', id: message.id, bytes: blockOf(virtualContent('song', size), message.index) });
  };
  const { folder } = engine.context;
  const sync = folder.sync.bind(folder);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  folder.sync = async (paths) => {
    await released;
    return sync(paths);
  };
  void engine.start();
  volume.disk.mkdir('music');
  expect(await until(() => journal.disk.at('music')?.unsynced === true, 10_000)).toBe(true);

  const { origin } = bee;
  const put = { origin, seq: 1, hlc: 1, path: 'music/song', version: { vector: { [origin]: 1 } } };
  bee.known = { [origin]: 1 };
  bee.sayOperations([
    { ...put, kind: 'put', mode: 0o644, mtimeUs: 0, content, size, ...(blocks && { blocks }) } as Operation,
  ]);
  expect(await until(() => journal.disk.at('music/song') !== undefined, 10_000)).toBe(true);
  expect(journal.applied().vector[origin]).toBeUndefined();
  const isKept = async (): Promise<boolean> => {
    const id = bee.all('missing').length + 1;
    bee.say({ type: 'want', id, content, index: 0, path: 'music/song', probe: true, keep: true });
    expect(await until(() => bee.all('missing').length === id, 1_000)).toBe(true);
    return bee.all('missing').at(-1)?.lacks === false;
  };
  expect(await isKept()).toBe(false);
  release();
  expect(await until(() => journal.disk.at('music')?.unsynced === undefined, 10_000)).toBe(true);
  const isCertain = (): boolean => {
    const row = journal.disk.at('music/song');
    return row !== undefined && !row.racy && !row.unsynced && !row.unconfirmed;
  };
  expect(await until(isCertain, 10_000)).toBe(true);
  expect(journal.applied().vector[origin]).toBe(1);
  expect(await isKept()).toBe(true);
});
