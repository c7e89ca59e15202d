import { blockBytes } from '@lockstep/shared';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  expectBytes,
  type FolderSubject,
  fingerprintAt,
  type OpenSubject,
  writeRequest,
} from './folder-subject.contract.ts';

/** Staging blocks that are here already, as every folder does it. */
export function blockCopiesContract(open: OpenSubject): void {
  let subject: FolderSubject;
  beforeEach(async () => {
    subject = await open();
  });
  afterEach(async () => {
    await subject.close();
  });

  const filled = (...values: number[]) => {
    const bytes = new Uint8Array(values.length * blockBytes - 5);
    for (const [index, value] of values.entries()) bytes.fill(value, index * blockBytes, (index + 1) * blockBytes);
    return bytes;
  };

  test('[CT17] are copied from another file, each where it is wanted, and a wrong one is left out', async () => {
    const { folder, user } = subject;
    await user.write('old', filled(1, 2, 3));
    const { content: old } = subject.identify(filled(1, 2, 3));
    const source = { from: 'file', path: 'old', fingerprint: await fingerprintAt(subject, 'old') } as const;
    const bytes = filled(2, 7, 1, 9, 3);
    const content = { ...subject.identify(bytes), size: bytes.length };
    const from = (index: number) => ({ content: old, index, source });
    const copies = [
      { index: 0, from: from(1) },
      { index: 1, from: from(0) },
      { index: 2, from: from(0) },
      { index: 4, from: from(2) },
    ];
    expect(await folder.stageCopies({ path: 'file', ...content, copies })).toEqual({ result: 'ok', added: [0, 2, 4] });
    const request = writeRequest(subject, 'new', bytes, { source: { from: 'staged' } });
    for (const index of [3, 1]) {
      expect(await folder.apply([request])).toEqual([{ result: 'source-gone' }]);
      const block = bytes.slice(index * blockBytes, (index + 1) * blockBytes);
      expect(await folder.stageBlock({ path: 'file', ...content, index, bytes: block })).toBe('ok');
    }
    expect(await folder.apply([request])).toMatchObject([{ result: 'done' }]);
    expectBytes((await user.look('new'))?.bytes, bytes);
    expectBytes((await user.look('old'))?.bytes, filled(1, 2, 3));
  });

  test('[CT17] of a file that changed meanwhile, or is gone, are not taken', async () => {
    const { folder, user } = subject;
    await user.write('old', filled(1, 2));
    const source = { from: 'file', path: 'old', fingerprint: await fingerprintAt(subject, 'old') } as const;
    const { content: old } = subject.identify(filled(1, 2));
    await user.write('old', filled(5, 2));
    const bytes = filled(1, 3);
    const content = { ...subject.identify(bytes), size: bytes.length };
    const copies = [{ index: 0, from: { content: old, index: 0, source } }];
    expect(await folder.stageCopies({ path: 'file', ...content, copies })).toEqual({ result: 'ok', added: [] });
    await user.remove('old');
    expect(await folder.stageCopies({ path: 'file', ...content, copies })).toEqual({ result: 'ok', added: [] });
    expect(await folder.stageBlock({ path: 'file', ...content, index: 1, bytes: bytes.slice(blockBytes) })).toBe('ok');
    expect(await folder.stageBlock({ path: 'file', ...content, index: 0, bytes: bytes.slice(0, blockBytes) })).toBe(
      'ok',
    );
    const request = writeRequest(subject, 'new', bytes, { source: { from: 'staged' } });
    expect(await folder.apply([request])).toMatchObject([{ result: 'done' }]);
    expectBytes((await user.look('new'))?.bytes, bytes);
  });

  test('[CT18] may be zeros, which are read from nowhere', async () => {
    const { folder, user } = subject;
    const bytes = filled(0, 0, 4, 0, 0);
    const { blocks, ...id } = subject.identify(bytes);
    expectBytes(folder.zeroBlockHash, blocks?.slice(0, 32) ?? new Uint8Array());
    const content = { ...id, blocks, size: bytes.length };
    const copies = [0, 1, 3].map((index) => ({ index, from: 'zeros' as const }));
    expect(await folder.stageCopies({ path: 'file', ...content, copies })).toEqual({ result: 'ok', added: [0, 1, 3] });
    for (const index of [2, 4]) {
      const block = bytes.slice(index * blockBytes, (index + 1) * blockBytes);
      expect(await folder.stageBlock({ path: 'file', ...content, index, bytes: block })).toBe('ok');
    }
    const request = writeRequest(subject, 'new', bytes, { source: { from: 'staged' } });
    expect(await folder.apply([request])).toMatchObject([{ result: 'done' }]);
    expectBytes((await user.look('new'))?.bytes, bytes);
  });
}
