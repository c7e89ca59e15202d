import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../../test/support/scripted-peer.ts';
import { virtualContent } from '../../../sim/disk/content.ts';
import { readPath } from './path.ts';

test('[CL26] a path that changed and was not read yet says so', async () => {
  const { engine, volume, until } = openTestMember([new ScriptedPeer('b')]);
  void engine.start();
  expect(await until(() => engine.lifecycle.state === 'active', 60_000)).toBe(true);
  volume.disk.write('file', virtualContent('file', 100_000));
  engine.localChanges.mark('file');
  expect(readPath(engine, 'file')).toMatchObject({ known: false, changing: true });
  expect(await until(() => readPath(engine, 'file').known, 10_000)).toBe(true);
  expect(await until(() => readPath(engine, 'file').changing === undefined, 10_000)).toBe(true);
});
