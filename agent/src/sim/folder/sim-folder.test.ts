import { blockBytes } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { folderContract } from '../../fs/folder.contract.ts';
import { bytesOf, doOne, fingerprintAt, textOf, tryOne, writeRequest } from '../../fs/folder-subject.contract.ts';
import { contentOfBytes, contentOfText, virtualContent } from '../disk/content.ts';
import { openSimSubject } from './sim-subject.contract.ts';

folderContract(async () => openSimSubject());

test('[PC1] no sync counts while a directory with a new name cannot be opened', async () => {
  const subject = openSimSubject({ canSyncFileSystem: false });
  const { disk } = subject.volume;
  disk.mkdir('d');
  disk.write('d/file', contentOfText('text'));
  disk.chmod('d', 0o300);
  expect(await subject.folder.sync(['d/file'])).toMatchObject({ result: 'not-done' });
  disk.chmod('d', 0o700);
  expect(await subject.folder.sync(['d/file'])).toMatchObject({ result: 'done', hidden: [] });
  await subject.close();
});

test('content above the inline limit is identified by the first bytes of each block, and is sent in blocks', async () => {
  const subject = openSimSubject();
  const content = virtualContent('v1', 3 * 1_048_576 + 17);
  subject.volume.disk.write('large', content);
  const { id, blocks, size } = content;
  const fingerprint = await fingerprintAt(subject, 'large');
  const source = { from: 'file', path: 'large', fingerprint } as const;
  for (let index = 0; index < 4; index++) {
    const bytes = await subject.folder.readBlock({ content: id, blocks, size, index, source });
    if (bytes === undefined) throw new Error('no block');
    expect(bytes.length).toBe(index < 3 ? blockBytes : 17);
    expect(await subject.folder.stageBlock({ path: 'file', content: id, blocks, size, index, bytes })).toBe('ok');
  }
  const write = writeRequest(subject, 'copy', '', { content: id, blocks, size, source: { from: 'staged' } });
  expect((await doOne(subject, write)).size).toBe(size);
  expect(subject.volume.disk.at('copy')?.content?.id).toBe(id);
  await subject.close();
});

test('a step of file times hides no change: a file written within it is racy', async () => {
  const subject = openSimSubject();
  subject.volume.disk.write('file', contentOfBytes(bytesOf('one')));
  const [seen] = await subject.folder.observe([{ path: 'file' }]);
  expect(seen).toMatchObject({ state: 'file', racy: true });
  await subject.close();
});

test('[MT30] an entry of another disk with the same inode number is another entry', async () => {
  const subject = openSimSubject();
  const { disk } = subject.volume;
  const root = disk.newDevice();
  disk.mkdir('disk');
  disk.mount('disk', root);
  await subject.folder.acceptMount('disk');
  const { number } = disk.write('file', contentOfText('old'));
  root.device.lastNumber = number - 1;
  expect(disk.write('disk/file', contentOfText('moved')).number).toBe(number);
  const [expectedFrom, expected] = [await fingerprintAt(subject, 'disk/file'), await fingerprintAt(subject, 'file')];
  const rename = { do: 'rename', from: 'disk/file', to: 'file', expectedFrom, expected } as const;
  expect(await tryOne(subject, rename)).toMatchObject({ result: 'problem', code: 'path-in-the-way' });
  expect(textOf(await subject.user.look('file'))).toBe('old');
  expect(textOf(await subject.user.look('disk/file'))).toBe('moved');
  await subject.close();
});
