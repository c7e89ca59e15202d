import { beforeEach, describe, expect, test } from 'vitest';
import type { DiskEntry } from '../core/entry.ts';
import { fingerprintAt } from '../core/packed-files.ts';
import type { Journal } from '../sync/ports/journal.ts';
import {
  after,
  ant,
  antMember,
  bee,
  content,
  dot,
  fingerprint,
  journaledAt,
  memberOperation,
  pathsOf,
  put,
  remove,
  show,
} from './fixtures.contract.ts';
import { openJournal } from './journal.ts';

const span = { beganMs: 10_000, endedMs: 10_100 };

/** The rows of disk, and the values derived from them and the heads. */
export function diskContract(open: () => Journal): void {
  let journal: Journal;
  beforeEach(() => {
    journal = open();
    return () => journal.close();
  });

  describe('disk', () => {
    test('[OD14] tells which contents files gain and lose, and that it was rolled back', () => {
      const told: unknown[] = [];
      journal.watchContents({
        changed: (...change) => told.push(change),
        rolledBack: () => told.push('rolled back'),
      });
      const entry = { dot: dot(ant, 1), content: content(1), fingerprint: fingerprint(1) };
      journal.recordDisk([{ path: 'x', entry }]);
      journal.recordDisk([{ path: 'x', entry: { ...entry, racy: true } }]);
      journal.recordDisk([{ path: 'x', entry: { ...entry, content: content(2) } }]);
      expect(() =>
        journal.transaction(() => {
          journal.recordDisk([{ path: 'x', entry: undefined }]);
          throw new Error('no');
        }),
      ).toThrow('no');
      journal.recordDisk([{ path: 'x', entry: { dot: dot(ant, 1), remote: true } }]);
      expect(told).toEqual([
        ['x', undefined, content(1)],
        ['x', content(1), content(2)],
        ['x', content(2), undefined],
        'rolled back',
        ['x', content(2), undefined],
      ]);
    });

    test('a row comes back as it was written', () => {
      const entry = { dot: dot(ant, 1), content: content(1), fingerprint: fingerprint(2 ** 53 - 1), racy: true };
      journal.recordDisk([
        { path: 'x', entry },
        { path: 'y', entry: { dot: dot(bee, 2) } },
      ]);
      expect(journal.disk('x')).toStrictEqual({ path: 'x', ...entry });
      expect(journal.disk('y')).toStrictEqual({ path: 'y', dot: dot(bee, 2) });
      journal.recordDisk([
        { path: 'x', entry: { ...entry, racy: false } },
        { path: 'y', entry: undefined },
      ]);
      expect([journal.disk('x')?.racy, journal.disk('y'), journal.disk('z')]).toEqual([false, undefined, undefined]);
    });

    test('the marks of a row come back, and a later row without them removes them', () => {
      const entry = { dot: dot(ant, 1), fingerprint: fingerprint(1), unsynced: true, damaged: true };
      journal.recordDisk([{ path: 'x', entry }]);
      expect(journal.disk('x')).toStrictEqual({ path: 'x', ...entry });
      journal.recordDisk([{ path: 'x', entry: { dot: dot(ant, 1) } }]);
      expect(journal.disk('x')).toStrictEqual({ path: 'x', dot: dot(ant, 1) });
    });

    test('[OD20] before a row becomes remote that is told, and if that fails the row stays', () => {
      const told: unknown[] = [];
      const other = openJournal({
        path: ':memory:',
        memberId: antMember,
        random: () => 0,
        nowMs: () => journaledAt,
        beforeRemote(path) {
          if (path === 'full') throw new Error('no room');
          told.push([path, other.disk(path)?.remote]);
        },
      });
      other.append([put(ant, 1, 'x'), put(ant, 2, 'full')]);
      other.recordDisk([{ path: 'x', entry: { dot: dot(ant, 1), fingerprint: fingerprint(1) } }]);
      other.recordDisk([{ path: 'x', entry: { dot: dot(ant, 1), remote: true } }]);
      expect(told).toEqual([['x', undefined]]);
      expect(() => other.recordDisk([{ path: 'full', entry: { dot: dot(ant, 2), remote: true } }])).toThrow('no room');
      expect(other.disk('full')).toBeUndefined();
      other.close();
    });

    test('[OD7] a delete of a remote file is pending until the row names it', () => {
      journal.append([put(ant, 1, 'x')]);
      journal.recordDisk([{ path: 'x', entry: { dot: dot(ant, 1), remote: true } }]);
      journal.append([remove(ant, 2, 'x', { version: after(dot(ant, 2), dot(ant, 1)) })]);
      expect(journal.counts().pending).toBe(1);
      journal.recordDisk([{ path: 'x', entry: { dot: dot(ant, 2) } }]);
      expect(journal.counts().pending).toBe(0);
      expect(journal.remoteBelow('', undefined, 10)).toEqual([]);
    });

    test('[OD1] a remote row is known as applied, and lies below its directory', () => {
      journal.append([put(ant, 1, 'd/x'), put(ant, 2, 'd/y'), put(ant, 3, 'e')]);
      for (const [index, path] of ['d/x', 'd/y', 'e'].entries()) {
        journal.recordDisk([{ path, entry: { dot: dot(ant, index + 1), remote: true } }]);
      }
      expect(journal.counts()).toMatchObject({ pending: 0, missingBytes: 0, disk: { files: 0 } });
      expect(journal.applied().vector).toEqual(journal.known());
      expect(pathsOf(journal.remoteBelow('', undefined, 10))).toEqual(['d/x', 'd/y', 'e']);
      expect(pathsOf(journal.remoteBelow('d', 'd/x', 10))).toEqual(['d/y']);
      journal.recordDisk([{ path: 'd/y', entry: undefined }]);
      expect(journal.disk('d/x')).toStrictEqual({ path: 'd/x', dot: dot(ant, 1), remote: true });
      expect(pathsOf(journal.remoteBelow('d', undefined, 10))).toEqual(['d/x']);
      expect(journal.counts().pending).toBe(1);
    });

    test('[PC1] a row that is not durable counts as not applied until a sync that began after it has ended', () => {
      const row = (seq: number, path: string) => ({ path, entry: { dot: dot(ant, seq), unsynced: true } });
      journal.append([put(ant, 1, 'x'), put(ant, 2, 'y'), put(ant, 3, 'z')]);
      show(journal, put(ant, 2, 'y'));
      journal.recordDisk([row(1, 'x')]);
      const first = journal.unsynced();
      journal.recordDisk([row(3, 'z')]);
      expect([first.paths, journal.unsynced().paths.toSorted()]).toEqual([['x'], ['x', 'z']]);
      expect(journal.applied()).toEqual({ vector: {}, ranges: { [ant]: [[2, 2]] } });
      expect(journal.counts().pending).toBe(0);
      journal.synced(0, first.mark, span);
      expect(journal.applied()).toEqual({ vector: { [ant]: 2 }, ranges: {} });
      const { mark } = journal.unsynced();
      expect(journal.unsynced(first.mark)).toMatchObject({ paths: ['z'], hasEarlier: false });
      expect(journal.unsynced(mark)).toMatchObject({ paths: [], hasEarlier: true });
      journal.synced(first.mark, journal.unsynced().mark, span);
      expect(journal.applied()).toEqual({ vector: { [ant]: 3 }, ranges: {} });
      expect(journal.unsynced().paths).toEqual([]);
    });

    test('[PC1] a row that is written again during a sync needs another one', () => {
      const change = { path: 'x', entry: { dot: dot(ant, 1), unsynced: true } };
      journal.recordDisk([change]);
      const { mark } = journal.unsynced();
      journal.recordDisk([change]);
      journal.synced(0, mark, span);
      expect(journal.unsynced().paths).toEqual(['x']);
    });

    test('[MT40] a file is clean after a sync, even if an earlier one failed', () => {
      const entry = {
        dot: dot(ant, 1),
        content: content(1),
        fingerprint: { ...fingerprint(1), ctimeMs: 1 },
        unsynced: true,
        unconfirmed: 'dirty',
      } as const;
      journal.recordDisk([{ path: 'x', entry }]);
      const failed = journal.unsynced();
      const { mark, paths, hasEarlier } = journal.unsynced(failed.mark);
      expect([paths, hasEarlier]).toEqual([['x'], true]);
      journal.synced(failed.mark, mark, span);
      expect(journal.disk('x')).toMatchObject({ unsynced: true, unconfirmed: 'clean' });
      expect(journal.unsynced(failed.mark)).toMatchObject({ paths: [], hasEarlier: true });
    });

    test('[LC40] a file is dirty until a sync that began after its change, clean until it is read, and certain then', () => {
      const at = (ctimeMs: number) => ({ ...fingerprint(1), ctimeMs });
      const row = (path: string, ctimeMs: number) => ({
        path,
        entry: {
          dot: dot(ant, 1),
          content: content(1),
          fingerprint: at(ctimeMs),
          racy: true,
          unconfirmed: 'dirty',
        } as const,
      });
      journal.recordDisk([row('d/old', span.beganMs - 50), row('d/during', span.beganMs), row('other', 1)]);
      const { mark, paths } = journal.unsynced();
      expect([...paths].sort()).toEqual(['d/during', 'd/old', 'other']);
      journal.recordDisk([row('other', 2)]);
      journal.synced(0, mark, span);
      expect(['d/old', 'd/during', 'other'].map((path) => journal.disk(path)?.unconfirmed)).toEqual([
        'clean',
        'dirty',
        'dirty',
      ]);
      expect(journal.unconfirmed('d').toSorted()).toEqual(['d/during', 'd/old']);
      expect(journal.unconfirmed('other')).toEqual(['other']);
      expect(journal.unsynced().paths.toSorted()).toEqual(['d/during', 'other']);

      const clean = journal.clean(undefined, 10);
      expect(clean.map(({ path }) => path)).toEqual(['d/old']);
      journal.recordDisk([{ path: 'd/old', entry: { ...row('d/old', 3).entry, unconfirmed: 'clean' } }]);
      journal.confirmed(clean);
      expect(journal.disk('d/old'), 'changed after it was read').toMatchObject({ unconfirmed: 'clean', racy: true });
      journal.confirmed([
        ...journal.clean(undefined, 10),
        ...['d/during', 'other'].flatMap((path) => journal.disk(path) ?? []),
      ]);
      expect(journal.disk('d/old')).toMatchObject({ racy: false });
      expect(journal.disk('d/old')?.unconfirmed).toBeUndefined();
      expect(journal.unconfirmed('').toSorted(), 'never clean').toEqual(['d/during', 'other']);
    });

    test('[PC6] damage that a power cut left is certain once it was read again', () => {
      const certain = { dot: dot(ant, 1), fingerprint: fingerprint(1), damaged: true, cut: true, racy: false } as const;
      const clean = { ...certain, unconfirmed: 'clean' } as const;
      const mode = { ...clean, content: content(1) };
      const other = { ...clean, found: content(1) };
      journal.recordDisk([
        { path: 'mode', entry: mode },
        { path: 'other', entry: other },
        { path: 'unread', entry: certain },
      ]);
      const isRead = (path: string, entry: Omit<DiskEntry, 'path'>): void => journal.confirmed([{ path, ...entry }]);
      isRead('mode', mode);
      isRead('other', { ...other, found: content(2) });
      expect(journal.unconfirmed('')).toEqual(['other']);
      isRead('other', other);
      expect(journal.damaged()).toEqual([
        { path: 'mode', ...certain, content: content(1) },
        { path: 'other', ...certain, found: content(1) },
        { path: 'unread', ...certain },
      ]);
    });

    test('[WT40] the files of the disk come page by page, as in their rows', () => {
      const entry = { dot: dot(ant, 1), content: content(1), fingerprint: fingerprint(7) };
      const { content: _, ...directory } = entry;
      journal.recordDisk([
        { path: 'a', entry },
        { path: 'b', entry: directory },
        { path: 'c', entry },
        { path: 'd', entry: { dot: dot(ant, 1) } },
      ]);
      const first = journal.filesAfter(undefined, 1);
      expect([first.paths, journal.filesAfter('a', 9).paths, journal.filesAfter('c', 9).paths]).toEqual([
        ['a'],
        ['c'],
        [],
      ]);
      expect(fingerprintAt(first, 0)).toEqual(fingerprint(7));
      expect(journal.filesAt(['c', 'd', 'b', 'a', 'none']).paths).toEqual(['c', 'a']);
    });

    test('[WT40] a page of files is read again only after a change', () => {
      const entry = { dot: dot(ant, 1), content: content(1), fingerprint: fingerprint(7) };
      journal.recordDisk([{ path: 'a', entry }]);
      const page = journal.filesAfter(undefined, 9);
      expect(journal.filesAfter(undefined, 9)).toBe(page);
      expect(journal.filesAfter('a', 9).paths).toEqual([]);
      journal.recordDisk([{ path: 'b', entry }]);
      expect(journal.filesAfter(undefined, 9).paths).toEqual(['a', 'b']);
      journal.recordDisk([{ path: 'a', entry: undefined }]);
      expect(journal.filesAfter(undefined, 9).paths).toEqual(['b']);
    });

    test('the children and all entries below, at any width', () => {
      const wide = Array.from({ length: 1200 }, (_, index) => `w/${String(index).padStart(4, '0')}`);
      const paths = [
        'd',
        'd/a',
        'd/a-',
        'd/a/x',
        'd/a/x/y',
        'd/a0',
        'd/b/only/deep',
        'd/c\u{10ffff}',
        'd/gone',
        'd-',
        'd0',
        'w',
        ...wide,
      ];
      show(journal, ...paths.map((path, index) => put(ant, index + 1, path)), remove(ant, 9999, 'd/gone'));
      const children = (directory: string) => pathsOf(journal.diskChildren(directory));
      expect(children('')).toEqual(['d', 'd-', 'd0', 'w']);
      expect(children('d')).toEqual(['d/a', 'd/a-', 'd/a0', 'd/c\u{10ffff}']);
      expect(children('d/a')).toEqual(['d/a/x']);
      expect(children('w')).toEqual(wide);
      expect(children('nowhere')).toEqual([]);
      expect(pathsOf(journal.diskBelow('d', undefined, 99))).toEqual([
        ...['d/a', 'd/a-', 'd/a/x', 'd/a/x/y', 'd/a0', 'd/b/only/deep', 'd/c\u{10ffff}'],
      ]);
      expect(pathsOf(journal.diskBelow('d', 'd/a-', 2))).toEqual(['d/a/x', 'd/a/x/y']);
      expect(journal.diskBelow('', undefined, 9999)).toHaveLength(paths.length - 1);
    });

    test('entries are found by content and by inode number, absent ones are not', () => {
      show(journal, put(ant, 1, 'x'), put(ant, 2, 'y', { content: content(1) }), put(ant, 3, 'z'));
      expect(pathsOf(journal.diskWithContent(content(1), 9))).toEqual(['x', 'y']);
      expect(journal.diskWithContent(content(1), 1)).toHaveLength(1);
      expect(pathsOf(journal.diskWithInode(3))).toEqual(['z']);
      show(journal, remove(ant, 4, 'x'), remove(ant, 5, 'z'));
      expect(pathsOf(journal.diskWithContent(content(1), 9))).toEqual(['y']);
      expect(journal.diskWithInode(3)).toEqual([]);
    });

    test('an entry of the member list has no place there', () => {
      const { path } = memberOperation(ant, 1, { id: antMember, name: '', addresses: [], standing: 'left' });
      expect(() => journal.recordDisk([{ path, entry: { dot: dot(ant, 1) } }])).toThrow('no place on the disk');
    });
  });
}
