import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Action } from '../../sync/ports/folder.ts';
import {
  bytesOf,
  doOne,
  type FolderSubject,
  fingerprintAt,
  mtimeUs,
  type OpenSubject,
  observeOne,
  textOf,
  tryOne,
  writeRequest,
} from '../folder-subject.contract.ts';

const changed = { result: 'changed' };

/** The actions of `apply`, as every folder executes them. */
export function applyContract(open: OpenSubject): void {
  let subject: FolderSubject;
  beforeEach(async () => {
    subject = await open();
  });
  afterEach(async () => {
    await subject.close();
  });

  async function shown(path: string): Promise<string | undefined> {
    return textOf(await subject.user.look(path));
  }

  describe('write', () => {
    test('[LC11] writes bytes, mode and time, and returns the fingerprint', async () => {
      const fingerprint = await doOne(subject, writeRequest(subject, 'file', 'text', { mode: 0o750 }));
      expect(await subject.user.look('file')).toEqual({ type: 'file', bytes: bytesOf('text'), mode: 0o750, mtimeUs });
      expect(await fingerprintAt(subject, 'file')).toEqual(fingerprint);
    });

    test('[MT5] replaces the expected version and keeps it', async () => {
      const expected = await doOne(subject, writeRequest(subject, 'file', 'old'));
      const keep = subject.identify(bytesOf('old')).content;
      await doOne(subject, writeRequest(subject, 'file', 'new', { expected, keep }));
      expect(await shown('file')).toBe('new');
      expect(await subject.folder.inHistory([keep])).toEqual(new Set([keep]));
    });

    test('[MT4] leaves an unexpected entry alone', async () => {
      const expected = await doOne(subject, writeRequest(subject, 'edited', 'old'));
      await subject.user.write('edited', bytesOf('their edit'));
      await subject.user.write('new', bytesOf('theirs'));
      const results = await subject.folder.apply([
        writeRequest(subject, 'edited', 'mine', { expected }),
        writeRequest(subject, 'new', 'mine'),
        writeRequest(subject, 'removed', 'mine', { expected }),
        writeRequest(subject, 'no/parent', 'mine'),
      ]);
      expect(results).toEqual([changed, changed, changed, changed]);
      expect(await shown('edited')).toBe('their edit');
      expect(await shown('new')).toBe('theirs');
      expect(await observeOne(subject, 'removed')).toMatchObject({ state: 'absent' });
    });

    test('[CT4] copies the content of another file while that file has it', async () => {
      const fingerprint = await doOne(subject, writeRequest(subject, 'from', 'text'));
      const source = { from: 'file', path: 'from', fingerprint } as const;
      await doOne(subject, writeRequest(subject, 'copy', 'text', { source }));
      expect(await shown('copy')).toBe('text');
      await subject.user.write('from', bytesOf('else'));
      expect(await tryOne(subject, writeRequest(subject, 'late', 'text', { source }))).toEqual({
        result: 'source-gone',
      });
    });

    test('executes a batch in order, and a failure affects one action only', async () => {
      await subject.user.write('b', bytesOf('theirs'));
      const results = await subject.folder.apply([
        { action: { do: 'mkdir', path: 'd', expected: 'absent', mode: 0o755 } },
        writeRequest(subject, 'd/a', 'a'),
        writeRequest(subject, 'b', 'b'),
        writeRequest(subject, 'd/c', 'c'),
      ]);
      expect(results.map(({ result }) => result)).toEqual(['done', 'done', 'changed', 'done']);
      expect(await shown('d/c')).toBe('c');
    });

    test('replaces a directory only if it is empty', async () => {
      await subject.user.mkdir('empty');
      await subject.user.mkdir('full');
      await subject.user.write('full/file', bytesOf('x'));
      const empty = await fingerprintAt(subject, 'empty');
      const full = await fingerprintAt(subject, 'full');
      await doOne(subject, writeRequest(subject, 'empty', 'file now', { expected: empty }));
      expect(await shown('empty')).toBe('file now');
      expect(await tryOne(subject, writeRequest(subject, 'full', 'no', { expected: full }))).toEqual(changed);
      expect(await shown('full/file')).toBe('x');
    });
  });

  describe('directories', () => {
    test('mkdir creates, replaces a file, and refuses an unexpected entry', async () => {
      const mkdir = { do: 'mkdir', path: 'd', expected: 'absent', mode: 0o750 } as const;
      await doOne(subject, mkdir);
      expect(await subject.user.look('d')).toMatchObject({ type: 'directory', mode: 0o750 });
      expect(await tryOne(subject, mkdir)).toEqual(changed);
      const expected = await doOne(subject, writeRequest(subject, 'file', 'text'));
      const keep = subject.identify(bytesOf('text')).content;
      await doOne(subject, { action: { ...mkdir, path: 'file', expected }, keep });
      expect(await subject.user.look('file')).toMatchObject({ type: 'directory' });
      expect(await subject.folder.inHistory([keep])).toEqual(new Set([keep]));
    });

    test('[MT9] rmdir removes an empty directory only', async () => {
      await subject.user.mkdir('d');
      await subject.user.write('d/unknown', bytesOf('x'));
      for (const rmdir of [
        { do: 'rmdir', path: 'd' },
        { do: 'rmdir', path: 'd', isReplaced: true },
      ] as const)
        expect(await tryOne(subject, rmdir)).toEqual(changed);
      await subject.user.remove('d/unknown');
      expect(await tryOne(subject, { do: 'rmdir', path: 'd' })).toEqual({ result: 'done' });
      expect(await subject.user.look('d')).toBeUndefined();
    });

    test('[MT11] rename-directory requires that exactly the known entries are below', async () => {
      for (const path of ['old', 'old/sub']) await subject.user.mkdir(path);
      await subject.user.write('old/sub/file', bytesOf('x'));
      const expectedFrom = await fingerprintAt(subject, 'old');
      const rename = { do: 'rename-directory', from: 'old', to: 'new', expectedFrom, mode: 0o700 } as const;
      expect(await tryOne(subject, { ...rename, names: ['sub'] })).toEqual(changed);
      expect(await tryOne(subject, { ...rename, names: ['sub', 'sub/file', 'sub/more'] })).toEqual(changed);
      await doOne(subject, { ...rename, names: ['sub', 'sub/file'] });
      expect(await subject.user.look('old')).toBeUndefined();
      expect(await subject.user.look('new')).toMatchObject({ type: 'directory', mode: 0o700 });
      expect(await shown('new/sub/file')).toBe('x');
    });
  });

  describe('names', () => {
    test('rename moves, replaces the expected version, and sets mode and time', async () => {
      const expectedFrom = await doOne(subject, writeRequest(subject, 'a', 'a'));
      const rename: Action = { do: 'rename', from: 'a', to: 'b', expectedFrom, expected: 'absent' };
      const moved = await doOne(subject, rename);
      expect(await subject.user.look('a')).toBeUndefined();
      const expected = await doOne(subject, writeRequest(subject, 'c', 'replaced'));
      const keep = subject.identify(bytesOf('replaced')).content;
      const onto: Action = {
        ...rename,
        from: 'b',
        to: 'c',
        expectedFrom: moved,
        expected,
        mode: 0o600,
        mtimeUs: 5_000_001,
      };
      await doOne(subject, { action: onto, keep });
      const found = { type: 'file', bytes: bytesOf('a'), mode: 0o600, mtimeUs: 5_000_001 };
      expect(await subject.user.look('c')).toEqual(found);
      expect(await subject.folder.inHistory([keep])).toEqual(new Set([keep]));
    });

    test('[MT4] rename changes neither name when one is not as expected', async () => {
      const expectedFrom = await doOne(subject, writeRequest(subject, 'a', 'a'));
      await subject.user.write('b', bytesOf('theirs'));
      const rename: Action = { do: 'rename', from: 'a', to: 'b', expectedFrom, expected: 'absent' };
      expect(await tryOne(subject, rename)).toEqual(changed);
      await subject.user.write('a', bytesOf('edited'));
      expect(await tryOne(subject, { ...rename, to: 'free' })).toEqual(changed);
      expect([await shown('a'), await shown('b'), await shown('free')]).toEqual(['edited', 'theirs', undefined]);
    });

    test('[LC11] symbolic links are created as links', async () => {
      const link: Action = { do: 'symlink', path: 'link', expected: 'absent', target: '../out side', mtimeUs };
      const expected = await doOne(subject, link);
      expect(await subject.user.look('link')).toMatchObject({ type: 'symlink', target: '../out side', mtimeUs });
      await doOne(subject, { ...link, expected, target: 'else' });
      expect(await subject.user.look('link')).toMatchObject({ target: 'else' });
    });

    test('[MT5] unlink removes the expected version and keeps it', async () => {
      const expected = await doOne(subject, writeRequest(subject, 'file', 'old'));
      const content = subject.identify(bytesOf('old')).content;
      await subject.user.write('edited', bytesOf('theirs'));
      const unlink: Action = { do: 'unlink', path: 'file', expected, content };
      expect(await tryOne(subject, { ...unlink, path: 'edited' })).toEqual(changed);
      expect(await tryOne(subject, { action: unlink, keep: content })).toEqual({ result: 'done' });
      expect(await subject.user.look('file')).toBeUndefined();
      expect(await shown('edited')).toBe('theirs');
      expect(await subject.folder.inHistory([content])).toEqual(new Set([content]));
    });

    test('attr sets mode and time of the expected entry', async () => {
      const expected = await doOne(subject, writeRequest(subject, 'file', 'text'));
      const attr: Action = { do: 'attr', path: 'file', expected, mode: 0o400, mtimeUs: mtimeUs + 1 };
      const left = await doOne(subject, attr);
      expect(await subject.user.look('file')).toMatchObject({ mode: 0o400, mtimeUs: mtimeUs + 1 });
      expect(await fingerprintAt(subject, 'file')).toEqual(left);
      expect(await tryOne(subject, attr)).toEqual(changed);
    });

    test('[MT21] the time of a file is set only while it holds the content, and its mode without a check', async () => {
      const expected = await doOne(subject, writeRequest(subject, 'file', 'text'));
      const [wrong, right] = ['else', 'text'].map((text) => subject.identify(bytesOf(text)).content);
      const attr = { do: 'attr', path: 'file', expected, mode: 0o600 } as const;
      const rename = { do: 'rename', from: 'file', to: 'moved', expectedFrom: expected, expected: 'absent' } as const;
      const time = { mtimeUs: mtimeUs + 1 };
      const gone = { result: 'source-gone' };
      expect(await tryOne(subject, { ...attr, ...time, content: wrong })).toEqual(gone);
      expect(await tryOne(subject, { ...rename, ...time, content: wrong })).toEqual(gone);
      expect(await fingerprintAt(subject, 'file')).toEqual(expected);
      const left = await doOne(subject, { ...attr, mtimeUs, content: wrong });
      await doOne(subject, { ...rename, ...time, expectedFrom: left, content: right });
      expect(await subject.user.look('moved')).toMatchObject({ mode: 0o600, ...time });
    });
  });
}
