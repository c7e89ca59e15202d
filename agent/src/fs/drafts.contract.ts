import { blockBytes } from '@lockstep/shared';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  bytesOf,
  expectBytes,
  type FolderSubject,
  fingerprintAt,
  type OpenSubject,
  writeRequest,
} from './folder-subject.contract.ts';

/** Files in staging whose content is known only at their end, as every folder makes them. */
export function draftsContract(open: OpenSubject): void {
  let subject: FolderSubject;
  beforeEach(async () => {
    subject = await open();
  });
  afterEach(async () => {
    await subject.close();
  });

  describe('draft', () => {
    test('[FA6] is hashed as it comes, stays when its write is not done, and is taken by the one that is', async () => {
      const { folder, user } = subject;
      for (const length of [0, 3, blockBytes, blockBytes + 3]) {
        const bytes = new Uint8Array(length).fill(7);
        const draft = folder.draft();
        for (let start = 0; start < length; start += blockBytes) {
          expect(await draft.add(bytes.subarray(start, start + blockBytes))).toBe('ok');
        }
        expect(await draft.finish()).toEqual({ ...subject.identify(bytes), size: length });
        const source = { from: 'draft', name: draft.name } as const;
        const elsewhere = writeRequest(subject, 'no/parent', bytes, { source });
        expect(await folder.apply([elsewhere])).toEqual([{ result: 'changed' }]);
        const write = writeRequest(subject, `file ${length}`, bytes, { source });
        expect(await folder.apply([write])).toMatchObject([{ result: 'done' }]);
        await draft.drop();
        expectBytes((await user.look(`file ${length}`))?.bytes, bytes);
      }
    });

    test('[FA6] that was dropped has no bytes, and only its last block is shorter', async () => {
      const { folder } = subject;
      const draft = folder.draft();
      expect(await draft.add(bytesOf('text'))).toBe('ok');
      await expect(draft.add(bytesOf('more'))).rejects.toThrow(RangeError);
      await draft.drop();
      expect(await draft.finish()).toBeUndefined();
      const write = writeRequest(subject, 'file', 'text', { source: { from: 'draft', name: draft.name } });
      expect(await folder.apply([write])).toEqual([{ result: 'source-gone' }]);
    });
  });

  describe('copy of a draft', () => {
    test.each([3, blockBytes, 2 * blockBytes + 3])(
      '[FA7] has the bytes of the file, of which blocks are replaced and added: %d bytes',
      async (size) => {
        const { folder, user } = subject;
        const bytes = new Uint8Array(size).fill(1);
        await user.write('file', bytes);
        const file = {
          path: 'file',
          fingerprint: await fingerprintAt(subject, 'file'),
          ...subject.identify(bytes),
          size,
        };
        const draft = folder.draft();
        expect(await draft.copy(file)).toBe('ok');
        const longer = new Uint8Array(size + 5).fill(1);
        longer.fill(2, 0, Math.min(size, blockBytes));
        const last = Math.floor(size / blockBytes);
        expect(await draft.add(longer.subarray(0, Math.min(longer.length, blockBytes)), 0)).toBe('ok');
        expect(await draft.add(longer.subarray(last * blockBytes), last)).toBe('ok');
        expect(await draft.finish()).toEqual({ ...subject.identify(longer), size: longer.length });
        const source = { from: 'draft', name: draft.name } as const;
        expect(await folder.apply([writeRequest(subject, 'copy', longer, { source })])).toMatchObject([
          { result: 'done' },
        ]);
        expectBytes((await user.look('copy'))?.bytes, longer);
        expectBytes((await user.look('file'))?.bytes, bytes);
      },
    );

    test('[FA7] is refused for a file that changed, is damaged or is gone, and no block becomes shorter', async () => {
      const { folder, user } = subject;
      const bytes = bytesOf('text');
      await user.write('file', bytes);
      const fingerprint = await fingerprintAt(subject, 'file');
      const file = { path: 'file', fingerprint, ...subject.identify(bytes), size: 4 };
      const draft = folder.draft();
      expect(await draft.copy(file)).toBe('ok');
      await expect(draft.add(bytesOf('abc'), 0)).rejects.toThrow(RangeError);
      await draft.drop();
      expect(await folder.draft().copy({ ...file, ...subject.identify(bytesOf('told')) })).toBe('source-gone');
      await user.write('file', bytesOf('other text'));
      expect(await folder.draft().copy(file)).toBe('source-gone');
      expect(await folder.draft().copy({ ...file, path: 'nothing' })).toBe('source-gone');
    });
  });
}
