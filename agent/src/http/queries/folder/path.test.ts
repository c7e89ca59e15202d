import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../../test/support/scripted-peer.ts';
import { virtualContent } from '../../../sim/disk/content.ts';
import { readTransfers } from '../transfers.ts';
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

test('[CL26] a path in a directory that cannot be listed says so, with the problem of that directory', async () => {
  const { engine, volume, until } = openTestMember([new ScriptedPeer('b')]);
  volume.disk.mkdir('closed');
  volume.disk.mkdir('closed/inner');
  volume.disk.write('closed/inner/file', virtualContent('file', 100_000));
  volume.disk.chmod('closed', 0o300);
  void engine.start();
  expect(await until(() => engine.lifecycle.state === 'active', 60_000)).toBe(true);
  const problem = { code: 'path-permission', path: 'closed' };
  expect(readPath(engine, 'closed/inner/file')).toMatchObject({ known: false, changing: true, problem });
  expect(readPath(engine, 'other/file')).toMatchObject({ changing: undefined, problem: null });
  volume.disk.chmod('closed', 0o700);
  expect(await until(() => readPath(engine, 'closed/inner/file').changing === undefined, 60_000)).toBe(true);
  expect(await until(() => readPath(engine, 'closed/inner/file').known, 60_000)).toBe(true);
  expect(readPath(engine, 'closed/inner/file').problem).toBe(null);
});

test('a reason that begins with the path leaves its first letter as it is', async () => {
  const ant = new ScriptedPeer('a');
  const { origin } = ant;
  const { engine, until } = openTestMember([ant]);
  void engine.start();
  expect(await until(() => engine.peers.get(ant.id)?.ready === true, 10_000)).toBe(true);
  const { id: content, size } = virtualContent('film', 100_000);
  const put = { kind: 'put', mode: 0o644, mtimeUs: 0, content, size } as const;
  ant.sayOperations([{ origin, seq: 1, hlc: 1, path: 'film', version: { vector: { [origin]: 1 } }, ...put }]);
  expect(await until(() => readPath(engine, 'film').known, 10_000)).toBe(true);
  engine.context.problems.set('path-in-the-way', { path: 'film' }, 'film is a pipe: move it away.');
  const reason = 'film is a pipe: move it away.';
  expect(readPath(engine, 'film').waitsFor).toContainEqual(expect.objectContaining({ reason }));
  expect(readTransfers(engine).pendingPaths).toContainEqual({ path: 'film', reason });
});
