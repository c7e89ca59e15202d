import type { Operation, WantMessage } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { blockOf, contentOfText, rotten, virtualContent } from '../../sim/disk/content.ts';
import { verifyMember } from './verify.ts';

const mebibyte = 1_048_576;

test('[SC3] verify --repair ends when a content does not come, also while another one comes for hours', async () => {
  const bee = new ScriptedPeer('b');
  const film = virtualContent('film', 2_000 * mebibyte);
  const wants: WantMessage[] = [];
  bee.answer = (message) => {
    if (message.type !== 'want') return;
    if (message.content === film.id) wants.push(message);
    else bee.say({ type: 'missing', id: message.id, lacks: true, shows: false });
  };
  const { engine, journal, scheduler, volume, until } = openTestMember([bee]);
  void engine.start();
  expect(await until(() => engine.lifecycle.state === 'active', 10_000)).toBe(true);
  volume.disk.write('letter', contentOfText('what was written'));
  expect(await until(() => journal.disk.at('letter') !== undefined, 10_000)).toBe(true);
  expect(await until(() => journal.disk.unconfirmed('letter').length === 0, 120_000)).toBe(true);
  const inode = volume.disk.inodeAt('letter');
  inode.content = rotten(contentOfText('what was written'));

  const { origin } = bee;
  const { id: content, size, blocks } = film;
  const file = { kind: 'put', mode: 0o644, mtimeUs: 0, content, size, ...(blocks && { blocks }) } as const;
  const put: Operation = { origin, seq: 1, hlc: 1, path: 'film', version: { vector: { [origin]: 1 } }, ...file };
  bee.known = { [origin]: 1 };
  bee.sayOperations([put]);
  const send = (): void => {
    const want = wants.shift();
    if (want !== undefined) bee.say({ type: 'block', id: want.id, bytes: blockOf(film, want.index) });
    scheduler.after(1_000, send);
  };
  send();
  expect(await until(() => wants.length > 0, 10_000)).toBe(true);

  const verified = verifyMember(engine, { repair: true, aborted: () => false });
  let left: unknown;
  void verified.then(({ repair }) => {
    left = repair;
  });
  expect(await until(() => left !== undefined, 60_000)).toBe(true);
  expect(left).toMatchObject({ left: 1, paths: [{ path: 'letter' }] });
  expect(engine.transfers.progress()).toMatchObject([{ path: 'film' }]);
});
