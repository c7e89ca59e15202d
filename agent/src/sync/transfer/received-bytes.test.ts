import { operationFramesInFlightMax } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { type Content, contentOfText } from '../../sim/disk/content.ts';
import type { Volume } from '../../sim/disk/volume.ts';

const textBytes = 60_000;
const savesPerFrame = 16;
const frames = 2 * operationFramesInFlightMax;

/** Bee saves small files, each at the path that `pathOf` returns for its number, and waits for confirmations as a sender does. */
async function saved(pathOf: (seq: number) => string, prepare: (volume: Volume) => void = () => undefined) {
  const bee = new ScriptedPeer('b');
  const { origin } = bee;
  const member = openTestMember([bee]);
  prepare(member.volume);
  void member.engine.start();
  expect(await member.until(() => member.engine.lifecycle.state === 'active', 10_000)).toBe(true);
  const confirmed = () => bee.all('received').length;
  const contents = new Map<string, Content>();
  bee.answer = (message) => {
    if (message.type !== 'want') return;
    const bytes = contents.get(message.content)?.parts[message.index] as Uint8Array;
    bee.say({ type: 'block', id: message.id, bytes });
  };
  for (let frame = 0; frame < frames; frame++) {
    expect(await member.until(() => frame - confirmed() < operationFramesInFlightMax, 60_000)).toBe(true);
    const carried = Array.from({ length: savesPerFrame }, (_, index) => {
      const seq = frame * savesPerFrame + index + 1;
      const content = contentOfText(`${seq} `.padEnd(textBytes, 'x'));
      contents.set(content.id, content);
      const entry = { kind: 'put', mode: 0o644, mtimeUs: seq, content: content.id, size: content.size } as const;
      const operation = {
        origin,
        seq,
        hlc: seq * 1024,
        path: pathOf(seq),
        version: { vector: { [origin]: seq } },
        ...entry,
      };
      return { operation, bytes: content.parts[0] as Uint8Array };
    });
    bee.known = { [origin]: (frame + 1) * savesPerFrame };
    bee.say({ type: 'operations', id: frame + 1, carried });
  }
  expect(await member.until(() => confirmed() === frames, 60_000)).toBe(true);
  return { ...member, receivedBytesCache: member.engine.context.receivedBytesCache, contents };
}

test('[CT9] inline bytes of a version that was superseded before it was applied do not block the sender', async () => {
  const { until, volume, receivedBytesCache } = await saved(() => 'log');
  expect(await until(() => volume.disk.at('log') !== undefined && receivedBytesCache.bytes === 0, 60_000)).toBe(true);
});

test('[CT9] inline bytes of a path that cannot be applied do not block the sender, and are requested later', async () => {
  const blocked = Array.from({ length: frames * savesPerFrame - 1 }, (_, index) => `blocked${index + 1}`);
  const { until, volume, engine } = await saved(
    (seq) => blocked[seq - 1] ?? 'free',
    ({ disk }) => {
      for (const path of blocked) disk.mkfifo(path);
    },
  );
  expect(await until(() => volume.disk.at('free') !== undefined, 60_000)).toBe(true);
  for (const path of blocked) volume.disk.unlink(path);
  expect(await until(() => engine.context.journal.totals.counts().pending === 0, 120_000)).toBe(true);
});
