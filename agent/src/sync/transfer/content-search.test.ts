import type { ContentId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';

const contents = ['1', '2'].map((digit) => `b3:${digit.repeat(64)}` as ContentId);
const sought = contents.map((content, index) => ({ content, path: `file${index}` }));

test('[OV1] each member says which contents it has; one that does not answer is silent', async () => {
  const [bee, old, mute] = [new ScriptedPeer('b'), new ScriptedPeer('c'), new ScriptedPeer('d')];
  bee.answer = (message) => {
    if (message.type !== 'want') return;
    expect(message.probe).toBe(true);
    bee.say({ type: 'missing', id: message.id, lacks: message.content === contents[1], shows: false });
  };
  // A member of an earlier version takes it for a request.
  old.answer = (message) => {
    if (message.type === 'want') old.say({ type: 'block', id: message.id, bytes: new Uint8Array(1) });
  };
  const { engine, until } = openTestMember([bee, old, mute]);
  void engine.start();
  expect(await until(() => engine.peers.ready().length === 3, 10_000)).toBe(true);
  const nothing = await engine.search.search([]);
  expect([...nothing.holders]).toEqual([]);
  let found: Awaited<ReturnType<typeof engine.search.search>> | undefined;
  void engine.search.search(sought).then((result) => {
    found = result;
  });
  expect(await until(() => found !== undefined, 5_000)).toBe(true);
  const holders = contents.map((content) => [...(found?.holders.get(content) ?? [])].sort());
  const [beeId, oldId, muteId] = [bee, old, mute].map(({ origin }) => origin.slice(0, 52));
  expect(holders).toEqual([[beeId, oldId].sort(), [oldId]]);
  expect(found?.silent).toEqual([muteId]);
});
