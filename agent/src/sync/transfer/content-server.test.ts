import type { Operation } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { blockOf, virtualContent } from '../../sim/disk/content.ts';

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
  const isCertain = (): boolean => {
    const row = journal.disk.at('music/song');
    return row !== undefined && !row.racy && !row.unsynced && !row.unconfirmed;
  };
  expect(await until(isCertain, 10_000)).toBe(true);
  const isKept = async (): Promise<boolean> => {
    const id = bee.all('missing').length + 1;
    bee.say({ type: 'want', id, content, index: 0, path: 'music/song', probe: true, keep: true });
    expect(await until(() => bee.all('missing').length === id, 1_000)).toBe(true);
    return bee.all('missing').at(-1)?.lacks === false;
  };
  expect(await isKept()).toBe(false);
  release();
  expect(await until(() => journal.disk.at('music')?.unsynced === undefined, 10_000)).toBe(true);
  expect(await isKept()).toBe(true);
});
