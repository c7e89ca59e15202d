import type { Operation, WantMessage } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { blockOf, type Content, rotten, virtualContent } from '../../sim/disk/content.ts';
import { verifyMember } from './verify.ts';

const mebibyte = 1_048_576;
const film = virtualContent('film', 2_000 * mebibyte);
const letter = virtualContent('letter', 300_000);

/** A member with a damaged letter, to which bee sends a film, a block each second. `askLetter` is called when bee is asked for the letter. */
async function withDamagedLetter(askLetter: (want: WantMessage, bee: ScriptedPeer) => void) {
  const bee = new ScriptedPeer('b');
  const wants: WantMessage[] = [];
  bee.answer = (message) => {
    if (message.type !== 'want') return;
    if (message.content === film.id) wants.push(message);
    else askLetter(message, bee);
  };
  const { engine, journal, scheduler, volume, until } = openTestMember([bee]);
  void engine.start();
  expect(await until(() => engine.lifecycle.state === 'active', 10_000)).toBe(true);
  volume.disk.write('letter', letter);
  expect(await until(() => journal.disk.at('letter') !== undefined, 10_000)).toBe(true);
  expect(await until(() => journal.disk.unconfirmed('letter').length === 0, 120_000)).toBe(true);
  volume.disk.inodeAt('letter').content = rotten(letter);

  const { origin } = bee;
  const { id: content, size, blocks } = film;
  const file = { kind: 'put', mode: 0o644, mtimeUs: 0, content, size, ...(blocks && { blocks }) } as const;
  const put: Operation = { origin, seq: 1, hlc: 1, path: 'film', version: { vector: { [origin]: 1 } }, ...file };
  bee.known = { [origin]: 1 };
  bee.sayOperations([put]);
  const send = (): void => {
    const want = wants.shift();
    if (want !== undefined) say(bee, want, film);
    scheduler.after(1_000, send);
  };
  send();
  expect(await until(() => wants.length > 0, 10_000)).toBe(true);
  return { engine, until };
}

function say(bee: ScriptedPeer, { id, index }: WantMessage, content: Content): void {
  bee.say({ type: 'block', id, bytes: blockOf(content, index) });
}

test('[SC3] verify --repair ends when a content does not come, also while another one comes for hours', async () => {
  const { engine, until } = await withDamagedLetter(({ id }, bee) => {
    bee.say({ type: 'missing', id, lacks: true, shows: false });
  });
  let left: unknown;
  void verifyMember(engine, { repair: true, aborted: () => false }).then(({ repair }) => {
    left = repair;
  });
  expect(await until(() => left !== undefined, 60_000)).toBe(true);
  expect(left).toMatchObject({ repaired: 0, left: 1, paths: [{ path: 'letter' }] });
  expect(engine.transfers.progress()).toMatchObject([{ path: 'film' }]);
});

test('[SC3] verify --repair waits for a content that a limit of the rate keeps back', async () => {
  const { engine, until } = await withDamagedLetter((want, bee) => say(bee, want, letter));
  engine.context.limits.receive.limit([{ bytesPerSecond: 20_000 }]);
  expect(await until(() => engine.transfers.progress().some(({ isLimited }) => isLimited), 20_000)).toBe(true);
  let left: unknown;
  void verifyMember(engine, { repair: true, aborted: () => false }).then(({ repair }) => {
    left = repair;
  });
  expect(await until(() => left !== undefined, 600_000)).toBe(true);
  expect(left).toMatchObject({ repaired: 1, left: 0 });
});
