import { blockBytes, hashUnderLockBytesMax, inlineBytesMax } from '@lockstep/shared';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { packFiles } from '../core/packed-files.ts';
import type { WatchHint } from '../sync/ports/folder.ts';
import {
  bytesOf,
  doOne,
  expectBytes,
  type FolderSubject,
  fingerprintAt,
  type OpenSubject,
  observeOne,
  scanAll,
  textOf,
  untilFlushed,
  writeRequest,
} from './folder-subject.contract.ts';

/** In milliseconds: long enough for a machine that is busy with other tests. */
const patience = 20_000;

/** Whether hints lead to a path. After a stall of the event loop one for the whole folder takes the place of all others. */
const leadTo = (hints: readonly WatchHint[], path: string): boolean =>
  hints.some((hint) => (hint.kind === 'path' ? hint.path === path : hint.path === '' && hint.recursive));

/** Observing, scanning and watching, as every folder does them. */
export function observeContract(open: OpenSubject): void {
  let subject: FolderSubject;
  beforeEach(async () => {
    subject = await open();
  });
  afterEach(async () => {
    await subject.close();
  });

  describe('observe', () => {
    test('finds each kind of entry, and no entry', async () => {
      const { user, folder } = subject;
      await user.write('file', bytesOf('text'));
      await user.mkdir('directory');
      await user.symlink('link', 'where/ever');
      const paths = ['file', 'directory', 'link', 'nothing', 'file/below', 'no/where'];
      const seen = await folder.observe(paths.map((path) => ({ path })));
      expect(seen.map(({ path }) => path)).toEqual(paths);
      expect(seen).toMatchObject([
        { state: 'file', content: subject.identify(bytesOf('text')).content, bytes: bytesOf('text') },
        { state: 'directory' },
        { state: 'symlink', target: 'where/ever' },
        { state: 'absent' },
        { state: 'absent' },
        { state: 'absent' },
      ]);
    });

    test('[LC1] returns `same` for the fingerprint that apply returned', async () => {
      const fingerprint = await doOne(subject, writeRequest(subject, 'file', 'mine'));
      expect(await observeOne(subject, 'file', fingerprint)).toEqual({ path: 'file', state: 'same' });
      await subject.user.write('file', bytesOf('theirs'));
      expect(await observeOne(subject, 'file', fingerprint)).toMatchObject({ state: 'file', bytes: bytesOf('theirs') });
    });

    test('[WT40] a poll returns exactly the files whose times have changed', async () => {
      const { user, folder } = subject;
      for (const path of ['same', 'written', 'removed', 'replaced']) await user.write(path, bytesOf('text'));
      const paths = ['same', 'written', 'removed', 'replaced'];
      const files = packFiles(
        await Promise.all(paths.map(async (path) => ({ path, ...(await fingerprintAt(subject, path)) }))),
      );
      expect(await folder.poll(files)).toEqual({ changed: [], linked: [] });
      await user.remove('removed');
      await user.write('new', bytesOf('text'));
      await user.rename('new', 'replaced');
      // File times advance in steps.
      await vi.waitFor(async () => {
        await user.write('written', bytesOf('othr'));
        expect(await folder.poll(files)).toEqual({ changed: ['written'], linked: [] });
      }, patience);
    });

    test('[WT2] a directory that replaced another one is not the same, even with its inode number', async () => {
      const { user } = subject;
      await user.mkdir('d');
      const expected = await fingerprintAt(subject, 'd');
      expect(await observeOne(subject, 'd', expected)).toMatchObject({ state: 'same' });
      await user.remove('d');
      // Until the file times have advanced, the two cannot be distinguished.
      await vi.waitFor(async () => {
        await user.write('probe', bytesOf('x'));
        expect((await fingerprintAt(subject, 'probe')).mtimeMs).toBeGreaterThan(expected.ctimeMs);
      }, patience);
      await user.mkdir('d');
      expect(await observeOne(subject, 'd', expected)).toMatchObject({ state: 'directory' });
    });

    test.each([0, 1, inlineBytesMax])('returns the bytes of a file of %i', async (size) => {
      const bytes = new Uint8Array(size).fill(7);
      await subject.user.write('file', bytes);
      const seen = await observeOne(subject, 'file');
      expect(seen).toMatchObject({ state: 'file', fingerprint: { size } });
      expectBytes('bytes' in seen ? seen.bytes : undefined, bytes);
    });

    test.each([
      ['text', bytesOf('text'), { endsInZeros: false, lastIsZero: false, isZeros: false }],
      ['text and zeros', bytesOf('text\0\0'), { endsInZeros: false, lastIsZero: true, isZeros: false }],
      ['zeros', new Uint8Array(5_000), { endsInZeros: true, lastIsZero: true, isZeros: true }],
      ['nothing', new Uint8Array(0), { endsInZeros: false, lastIsZero: false, isZeros: false }],
    ])(
      '[PC2] [PC7] reports whether a file with %s has zeros that a power cut may have left',
      async (_what, bytes, zeros) => {
        await subject.user.write('file', bytes);
        const [seen] = await subject.folder.observe([{ path: 'file', tail: true }]);
        expect(seen).toMatchObject({ state: 'file', ...zeros });
      },
    );

    test('[CT2] hashes a file above one block only on request', async () => {
      const bytes = new Uint8Array(hashUnderLockBytesMax + 1).fill(3);
      await subject.user.write('large', bytes);
      const { content, blocks } = subject.identify(bytes);
      expect(await observeOne(subject, 'large')).toMatchObject({ state: 'large', fingerprint: { size: bytes.length } });
      const [seen] = await subject.folder.observe([{ path: 'large', hashLarge: true }]);
      expect(seen).toMatchObject({ state: 'file', content, blocks });
      expect(seen).not.toHaveProperty('bytes');
    });
  });

  describe('scan', () => {
    test('lists a tree, parents before children', async () => {
      const { user } = subject;
      await user.mkdir('a');
      await user.mkdir('a/b');
      await user.write('a/b/file', bytesOf('x'));
      await user.symlink('a/link', '..');
      const found = await scanAll(subject);
      expect(found.map(({ path }) => path)).toEqual(['', 'a', 'a/b']);
      const listed = found.flatMap(({ path, entries }) => entries.map(({ name, type }) => `${path}/${name} ${type}`));
      expect(listed.sort()).toEqual(['/a directory', 'a/b directory', 'a/b/file file', 'a/link symlink'].sort());
      expect(found[2]?.entries[0]?.fingerprint).toEqual(await fingerprintAt(subject, 'a/b/file'));
    });

    test('without `recursive` lists one directory, and neither enters nor reports skipped entries', async () => {
      const { user } = subject;
      for (const path of ['a', 'a/kept', 'a/skipped', 'a/skipped/below']) await user.mkdir(path);
      const flat = await scanAll(subject, 'a', { recursive: false });
      expect(flat.map(({ path }) => path)).toEqual(['a']);
      const found = await scanAll(subject, '', { skip: (path) => path === 'a/skipped' });
      expect(found.map(({ path }) => path)).toEqual(['', 'a', 'a/kept']);
      expect(found[1]?.entries.map(({ name }) => name)).toEqual(['kept']);
    });

    test("[WT7] another member's state is reported as skipped, and neither entered nor observed", async () => {
      const { user } = subject;
      for (const path of ['a', 'a/.lockstep', 'a/.lockstep/history']) await user.mkdir(path);
      await user.write('a/.lockstep/identity.key', bytesOf('secret'));
      await user.write('a/.lockstepper', bytesOf('x'));
      const found = await scanAll(subject);
      expect(found.map(({ path }) => path)).toEqual(['', 'a']);
      expect(found[1]?.entries.map(({ name }) => name)).toEqual(['.lockstepper']);
      expect(found[1]?.skipped).toEqual([{ name: '.lockstep', code: 'path-reserved' }]);
      for (const path of ['a/.lockstep', 'a/.lockstep/identity.key']) {
        expect(await observeOne(subject, path)).toEqual({ path, state: 'absent' });
      }
    });

    test('reports that a directory is absent', async () => {
      await subject.user.write('file', bytesOf('x'));
      for (const path of ['nothing', 'file', 'nothing/below']) {
        expect(await scanAll(subject, path)).toEqual([{ path, entries: [], skipped: [], absent: true }]);
      }
    });
  });

  describe('watch', () => {
    test('[WT2] hints at changes in scanned directories', async () => {
      const hints: WatchHint[] = [];
      await subject.folder.watch((more) => hints.push(...more));
      await subject.user.mkdir('a');
      await scanAll(subject);
      await subject.user.write('a/file', bytesOf('x'));
      await vi.waitFor(() => expect(leadTo(hints, 'a/file')).toBe(true), patience);
      hints.length = 0;
      await subject.user.remove('a/file');
      await vi.waitFor(() => expect(leadTo(hints, 'a/file')).toBe(true), patience);
    });
  });

  describe('blocks', () => {
    test('[CT6] reads a block while the source has it', async () => {
      const bytes = new Uint8Array(2 * blockBytes + 10).map((_, index) => (index >> 12) | 1);
      await subject.user.write('file', bytes);
      const fingerprint = await fingerprintAt(subject, 'file');
      const source = { from: 'file', path: 'file', fingerprint } as const;
      const request = { ...subject.identify(bytes), size: bytes.length, source };
      expectBytes(await subject.folder.readBlock({ ...request, index: 2 }), bytes.slice(2 * blockBytes));
      await subject.user.write('file', new Uint8Array(bytes.length));
      expect(await subject.folder.readBlock({ ...request, index: 2 })).toBeUndefined();
      await subject.user.remove('file');
      expect(await subject.folder.readBlock({ ...request, index: 0 })).toBeUndefined();
    });

    test('[CT2] makes a file of verified blocks once it has all of them', async () => {
      const { folder, user } = subject;
      const bytes = new Uint8Array(blockBytes + 3).fill(9);
      const content = { ...subject.identify(bytes), size: bytes.length };
      const [first, last] = [bytes.slice(0, blockBytes), bytes.slice(blockBytes)];
      const request = writeRequest(subject, 'file', bytes, { source: { from: 'staged' } });
      expect(await folder.stageBlock({ path: 'file', ...content, index: 1, bytes: last.slice() })).toBe('ok');
      expect(await folder.apply([request])).toEqual([{ result: 'source-gone' }]);
      expect(
        await folder.stageBlock({ path: 'file', ...content, index: 0, bytes: first.map((byte) => byte + 1) }),
      ).toBe('corrupt');
      expect(await folder.stageBlock({ path: 'file', ...content, index: 0, bytes: first.slice() })).toBe('ok');
      expect(await folder.apply([request])).toMatchObject([{ result: 'done' }]);
      expectBytes((await user.look('file'))?.bytes, bytes);
      await folder.stageBlock({ path: 'file', ...content, index: 0, bytes: first.slice() });
      await folder.unstage(content.content);
      await folder.stageBlock({ path: 'file', ...content, index: 1, bytes: last.slice() });
      const again = writeRequest(subject, 'again', bytes, { source: { from: 'staged' } });
      expect(await folder.apply([again])).toEqual([{ result: 'source-gone' }]);
    });
  });

  describe('flushHints', () => {
    test('[LC14] resolves after the hints of all earlier changes', async () => {
      const { user, folder } = subject;
      await user.mkdir('a');
      const hints: WatchHint[] = [];
      await folder.watch((more) => hints.push(...more));
      await scanAll(subject);
      for (let index = 0; index < 50; index++) await user.write(`a/${index}`, bytesOf('x'));
      await user.rename('a/49', 'a/renamed');
      await untilFlushed(folder);
      for (const name of ['0', '48', '49', 'renamed']) {
        expect(leadTo(hints, `a/${name}`), name).toBe(true);
      }
    });

    test('[LC14] also resolves without changes, and concurrently', async () => {
      const { folder } = subject;
      await folder.watch(() => undefined);
      await scanAll(subject);
      await Promise.all([untilFlushed(folder), untilFlushed(folder)]);
      await untilFlushed(folder);
    });
  });

  describe('history', () => {
    test('[MT5] keeps contents, returns them, and removes the oldest that are not needed', async () => {
      const { folder } = subject;
      const texts = ['oldest', 'needed', 'newest'];
      const roomy = { bytesMax: 2 ** 40, filesMax: 100, ageMsMax: 86_400_000 };
      const contents = texts.map((text) => subject.identify(bytesOf(text)).content);
      for (const [index, text] of texts.entries()) {
        const source = { from: 'bytes', bytes: bytesOf(text) } as const;
        const [content, size] = [contents[index] ?? contents[0], text.length];
        if (content === undefined) throw new Error('no content');
        expect(await folder.keep([{ content, size, source }])).toEqual([true]);
        await subject.tick();
      }
      expect([...(await folder.inHistory(contents))].sort()).toEqual([...contents].sort());
      await doOne(subject, writeRequest(subject, 'back', 'oldest', { source: { from: 'history' } }));
      expect(textOf(await subject.user.look('back'))).toBe('oldest');
      await folder.trimHistory({ ...roomy, filesMax: 2 }, (content) => content === contents[1]);
      expect(await folder.inHistory(contents)).toEqual(new Set(contents.slice(1)));
      await folder.trimHistory({ ...roomy, bytesMax: 0 }, (content) => content === contents[1]);
      expect(await folder.inHistory(contents)).toEqual(new Set([contents[1]]));
      const gone = writeRequest(subject, 'gone', 'oldest', { source: { from: 'history' } });
      expect(await folder.apply([gone])).toEqual([{ result: 'source-gone' }]);
    });
  });

  test('an intact folder is healthy', async () => {
    expect(await subject.folder.health()).toMatchObject({ ok: true });
  });
}
