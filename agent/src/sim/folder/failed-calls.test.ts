import { blockBytes } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { bytesOf, doOne, textOf, tryOne, writeRequest } from '../../fs/folder-subject.contract.ts';
import { blockOf, contentOfBytes, virtualContent } from '../disk/content.ts';
import { openSimSubject } from './sim-subject.contract.ts';

test('[MT4] a crash between two steps leaves the old file or the new one, and history', async () => {
  for (let effects = 0; effects < 30; effects++) {
    const subject = openSimSubject();
    const expected = await doOne(subject, writeRequest(subject, 'file', 'old'));
    const keep = contentOfBytes(bytesOf('old')).id;
    subject.life.crashAfterEffects(effects);
    const request = writeRequest(subject, 'file', 'new', { expected, keep });
    const settled = subject.folder.apply([request]).then(() => 'settled');
    const outcome = await Promise.race([settled, subject.crashed]);
    expect(outcome).toBe(subject.life.alive ? 'settled' : 'crashed');
    const next = subject.reopen();
    const seen = await next.observe([{ path: 'file' }]);
    expect(['old', 'new']).toContain(new TextDecoder().decode(seen[0]?.state === 'file' ? seen[0].bytes : undefined));
    if (seen[0]?.state === 'file' && seen[0].content !== keep) {
      expect(await next.inHistory([keep])).toEqual(new Set([keep]));
    }
    await subject.close();
  }
});

test.each(['write', 'unlink', 'mkdir'] as const)(
  '[MT5] a power cut between two syncs leaves the file that %s replaces, or history has it',
  async (what) => {
    for (let effects = 0; effects < 40; effects++) {
      const subject = openSimSubject({ canSyncFileSystem: false, ordersNames: false });
      const expected = await doOne(subject, writeRequest(subject, 'file', 'old'));
      const keep = contentOfBytes(bytesOf('old')).id;
      subject.life.crashAfterEffects(effects);
      const request = {
        write: writeRequest(subject, 'file', 'new', { expected, keep }),
        unlink: { action: { do: 'unlink', path: 'file', expected }, keep } as const,
        mkdir: { action: { do: 'mkdir', path: 'file', mode: 0o755, mtimeUs: 0, expected }, keep } as const,
      }[what];
      await Promise.race([subject.folder.apply([request]), subject.crashed]);
      const { disk } = subject.volume;
      disk.cache.asOnDisk(() => {
        const inHistory = disk.at(`/state/history/${keep.slice(3, 5)}/b3-${keep.slice(3)}`);
        expect([disk.at('file')?.content?.id, inHistory?.content?.id]).toContain(keep);
      });
      await subject.close();
    }
  },
);

test('[MT7] a failing call leaves either the old entry or the new one', async () => {
  for (let call = 1; call < 60; call++) {
    const subject = openSimSubject();
    const expected = await doOne(subject, writeRequest(subject, 'file', 'old'));
    const keep = contentOfBytes(bytesOf('old')).id;
    subject.beforeCall(call, () => {
      subject.volume.failures = { code: 'EIO', chance: 1 };
      subject.beforeCall(1, () => {
        subject.volume.failures = undefined;
      });
    });
    const result = await tryOne(subject, writeRequest(subject, 'file', 'new', { expected, keep }));
    subject.volume.failures = undefined;
    const text = textOf(await subject.user.look('file'));
    expect(['old', 'new']).toContain(text);
    if (result.result === 'done') expect(text).toBe('new');
    await subject.close();
  }
});

test('[CT29] a disk that refuses a piece of a staged content is a problem of its path, and the content can be staged again', async () => {
  const subject = openSimSubject();
  const file = virtualContent('v1', 4 * blockBytes);
  const { id, blocks, size } = file;
  const source = { from: 'staged' } as const;
  const expected = 'absent';
  const action = { do: 'write', path: 'file', content: id, size, mode: 0o644, mtimeUs: 0, source, expected } as const;
  const stage = (index: number) =>
    subject.folder.stageBlock({ path: 'file', content: id, blocks, size, index, bytes: blockOf(file, index) });
  expect(await Promise.all([stage(0), stage(1)])).toEqual(['ok', 'ok']);
  subject.volume.failures = { code: 'EIO', chance: 1 };
  await new Promise<void>((resolve) => subject.beforeCall(1, resolve));
  subject.volume.failures = undefined;
  expect(await Promise.all([stage(2), stage(3)])).toEqual(['ok', 'ok']);
  expect(await tryOne(subject, action)).toMatchObject({ result: 'problem', detail: expect.stringContaining('EIO') });
  expect(await subject.folder.stagedBlocks({ content: id, blocks, size })).toEqual([]);
  expect(await Promise.all([0, 1, 2, 3].map(stage))).toEqual(['ok', 'ok', 'ok', 'ok']);
  expect(await tryOne(subject, action)).toMatchObject({ result: 'done' });
  await subject.close();
});

test('[CT30] a disk that refuses a block is a problem of the path, and the block can be staged again', async () => {
  const file = virtualContent('v1', 2 * blockBytes);
  const { id, blocks, size } = file;
  const refusals = new Set<string>();
  for (let call = 1; call < 9; call++) {
    const subject = openSimSubject();
    const block = { path: 'file', content: id, blocks, size, index: 0 };
    const stage = () => subject.folder.stageBlock({ ...block, bytes: blockOf(file, 0) });
    subject.beforeCall(call, () => {
      subject.volume.failures = { code: 'EIO', chance: 1 };
    });
    const outcome = await stage();
    if (typeof outcome === 'object') refusals.add(`${outcome.code}: ${outcome.detail}`);
    subject.volume.failures = undefined;
    expect(await stage()).toBe('ok');
    await subject.close();
  }
  expect([...refusals].sort()).toEqual([
    'path-io: The disk answered EIO for .lockstep/staging: check the disk.',
    'path-io: The disk answered EIO for file: check the disk.',
  ]);
});

test('[WT6] the health of a folder on a disk that fails names the error', async () => {
  const subject = openSimSubject();
  expect(await subject.folder.health()).toMatchObject({ ok: true });
  subject.volume.failures = { code: 'EIO', chance: 1 };
  const detail = 'The disk answered EIO for the folder: check the disk. Nothing is deleted meanwhile.';
  expect(await subject.folder.health()).toMatchObject({ ok: false, detail });
  subject.volume.failures = undefined;
  expect(await subject.folder.health()).toMatchObject({ ok: true });
  await subject.close();
});
