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
  mkdir,
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
      journal.disk.watch({
        changed: (...change) => told.push(change),
        rolledBack: () => told.push('rolled back'),
      });
      const entry = { dot: dot(ant, 1), content: content(1), fingerprint: fingerprint(1) };
      journal.disk.record([{ path: 'x', entry }]);
      journal.disk.record([{ path: 'x', entry: { ...entry, racy: true } }]);
      journal.disk.record([{ path: 'x', entry: { ...entry, content: content(2) } }]);
      expect(() =>
        journal.transaction(() => {
          journal.disk.record([{ path: 'x', entry: undefined }]);
          throw new Error('no');
        }),
      ).toThrow('no');
      journal.disk.record([{ path: 'x', entry: { dot: dot(ant, 1), remote: true } }]);
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
      journal.disk.record([
        { path: 'x', entry },
        { path: 'y', entry: { dot: dot(bee, 2) } },
      ]);
      expect(journal.disk.at('x')).toStrictEqual({ path: 'x', ...entry });
      expect(journal.disk.at('y')).toStrictEqual({ path: 'y', dot: dot(bee, 2) });
      journal.disk.record([
        { path: 'x', entry: { ...entry, racy: false } },
        { path: 'y', entry: undefined },
      ]);
      expect([journal.disk.at('x')?.racy, journal.disk.at('y'), journal.disk.at('z')]).toEqual([
        false,
        undefined,
        undefined,
      ]);
    });

    test('the marks of a row come back, and a later row without them removes them', () => {
      const entry = { dot: dot(ant, 1), fingerprint: fingerprint(1), unsynced: true, damaged: true };
      journal.disk.record([{ path: 'x', entry }]);
      expect(journal.disk.at('x')).toStrictEqual({ path: 'x', ...entry });
      journal.disk.record([{ path: 'x', entry: { dot: dot(ant, 1) } }]);
      expect(journal.disk.at('x')).toStrictEqual({ path: 'x', dot: dot(ant, 1) });
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
          told.push([path, other.disk.at(path)?.remote]);
        },
      });
      other.append([put(ant, 1, 'x'), put(ant, 2, 'full')]);
      other.disk.record([{ path: 'x', entry: { dot: dot(ant, 1), fingerprint: fingerprint(1) } }]);
      other.disk.record([{ path: 'x', entry: { dot: dot(ant, 1), remote: true } }]);
      expect(told).toEqual([['x', undefined]]);
      expect(() => other.disk.record([{ path: 'full', entry: { dot: dot(ant, 2), remote: true } }])).toThrow('no room');
      expect(other.disk.at('full')).toBeUndefined();
      other.close();
    });

    test('[OD7] a delete of a remote file is pending until the row names it', () => {
      journal.append([put(ant, 1, 'x')]);
      journal.disk.record([{ path: 'x', entry: { dot: dot(ant, 1), remote: true } }]);
      journal.append([remove(ant, 2, 'x', { version: after(dot(ant, 2), dot(ant, 1)) })]);
      expect(journal.totals.counts().pending).toBe(1);
      journal.disk.record([{ path: 'x', entry: { dot: dot(ant, 2) } }]);
      expect(journal.totals.counts().pending).toBe(0);
      expect(journal.disk.remoteBelow('', undefined, 10)).toEqual([]);
    });

    test('[OD1] a remote row is known as applied, and lies below its directory', () => {
      journal.append([put(ant, 1, 'd/x'), put(ant, 2, 'd/y'), put(ant, 3, 'e')]);
      for (const [index, path] of ['d/x', 'd/y', 'e'].entries()) {
        journal.disk.record([{ path, entry: { dot: dot(ant, index + 1), remote: true } }]);
      }
      expect(journal.totals.counts()).toMatchObject({ pending: 0, missingBytes: 0, disk: { files: 0 } });
      expect(journal.applied().vector).toEqual(journal.log.known());
      expect(pathsOf(journal.disk.remoteBelow('', undefined, 10))).toEqual(['d/x', 'd/y', 'e']);
      expect(pathsOf(journal.disk.remoteBelow('d', 'd/x', 10))).toEqual(['d/y']);
      journal.disk.record([{ path: 'd/y', entry: undefined }]);
      expect(journal.disk.at('d/x')).toStrictEqual({ path: 'd/x', dot: dot(ant, 1), remote: true });
      expect(pathsOf(journal.disk.remoteBelow('d', undefined, 10))).toEqual(['d/x']);
      expect(journal.totals.counts().pending).toBe(1);
    });

    test('[PC1] a row that is not durable counts as not applied until a sync that began after it has ended', () => {
      const row = (seq: number, path: string) => ({ path, entry: { dot: dot(ant, seq), unsynced: true } });
      journal.append([put(ant, 1, 'x'), put(ant, 2, 'y'), put(ant, 3, 'z')]);
      show(journal, put(ant, 2, 'y'));
      journal.disk.record([row(1, 'x')]);
      const first = journal.disk.unsynced();
      journal.disk.record([row(3, 'z')]);
      expect([first.paths, journal.disk.unsynced().paths.toSorted()]).toEqual([['x'], ['x', 'z']]);
      expect(journal.applied()).toEqual({ vector: {}, ranges: { [ant]: [[2, 2]] } });
      expect(journal.totals.counts().pending).toBe(0);
      journal.disk.synced(0, first.mark, span);
      expect(journal.applied()).toEqual({ vector: { [ant]: 2 }, ranges: {} });
      const { mark } = journal.disk.unsynced();
      expect(journal.disk.unsynced(first.mark)).toMatchObject({ paths: ['z'], hasEarlier: false });
      expect(journal.disk.unsynced(mark)).toMatchObject({ paths: [], hasEarlier: true });
      journal.disk.synced(first.mark, journal.disk.unsynced().mark, span);
      expect(journal.applied()).toEqual({ vector: { [ant]: 3 }, ranges: {} });
      expect(journal.disk.unsynced().paths).toEqual([]);
    });

    test('[PC1] a row that is written again during a sync needs another one', () => {
      const change = { path: 'x', entry: { dot: dot(ant, 1), unsynced: true } };
      journal.disk.record([change]);
      const { mark } = journal.disk.unsynced();
      journal.disk.record([change]);
      journal.disk.synced(0, mark, span);
      expect(journal.disk.unsynced().paths).toEqual(['x']);
    });

    describe('[PC1] below a directory that is not durable', () => {
      const directory = (seq: number, ino: number, mode = 0o755) => ({
        path: 'd',
        entry: { dot: dot(ant, seq), fingerprint: fingerprint(ino, 0o040000 | mode), unsynced: true },
      });
      const unsynced = (): readonly string[] => journal.disk.unsynced().paths.toSorted();
      const sync = (): void => journal.disk.synced(0, journal.disk.unsynced().mark, span);

      beforeEach(() => {
        journal.append([mkdir(ant, 1, 'd'), put(bee, 1, 'd/sub/x'), put(bee, 2, 'd-x'), put(bee, 3, 'd/gone')]);
      });

      test('an entry that is put there is not applied before the directory is durable', () => {
        journal.disk.record([directory(1, 1)]);
        show(journal, put(bee, 1, 'd/sub/x'), put(bee, 2, 'd-x'), remove(bee, 3, 'd/gone'));
        expect(unsynced()).toEqual(['d', 'd/sub/x']);
        expect(journal.disk.at('d/sub/x')).toMatchObject({ unsynced: true });
        expect(journal.applied()).toEqual({ vector: {}, ranges: { [bee]: [[2, 3]] } });
        sync();
        expect(journal.disk.at('d/sub/x')?.unsynced).toBeUndefined();
        expect(journal.applied().vector).toEqual({ [ant]: 1, [bee]: 3 });
        show(journal, put(bee, 1, 'd/sub/x'));
        expect(unsynced()).toEqual([]);
      });

      test('nor is one that was there when its user brought the directory back, but after a change of its mode it is', () => {
        show(journal, mkdir(ant, 1, 'd'), put(bee, 1, 'd/sub/x'), put(bee, 2, 'd-x'), remove(bee, 3, 'd/gone'));
        const { fingerprint: before } = journal.disk.at('d') ?? {};
        journal.disk.record([directory(1, before?.ino ?? 0, 0o700)]);
        expect(unsynced()).toEqual(['d']);
        journal.disk.record([{ path: 'd', entry: { dot: dot(ant, 1) } }]);
        journal.disk.record([directory(1, before?.ino ?? 0)]);
        expect(unsynced()).toEqual(['d', 'd/sub/x']);
        expect(journal.disk.at('d/sub/x')).toMatchObject({ unsynced: true });
        expect(journal.applied().ranges).toEqual({ [bee]: [[2, 3]] });
      });

      test('a directory whose row was rolled back or removed does not count', () => {
        const rolledBack = (): void =>
          journal.transaction(() => {
            journal.disk.record([directory(1, 1)]);
            throw new Error('no');
          });
        expect(rolledBack).toThrow('no');
        show(journal, put(bee, 1, 'd/sub/x'));
        expect(unsynced()).toEqual([]);
        journal.disk.record([directory(1, 1), { path: 'd', entry: undefined }]);
        show(journal, put(bee, 4, 'd/y'));
        expect(unsynced()).toEqual(['d/sub/x']);
      });
    });

    test('[MT40] a file is clean after a sync, even if an earlier one failed', () => {
      const entry = {
        dot: dot(ant, 1),
        content: content(1),
        fingerprint: { ...fingerprint(1), ctimeMs: 1 },
        unsynced: true,
        unconfirmed: 'dirty',
      } as const;
      journal.disk.record([{ path: 'x', entry }]);
      const failed = journal.disk.unsynced();
      const { mark, paths, hasEarlier } = journal.disk.unsynced(failed.mark);
      expect([paths, hasEarlier]).toEqual([['x'], true]);
      journal.disk.synced(failed.mark, mark, span);
      expect(journal.disk.at('x')).toMatchObject({ unsynced: true, unconfirmed: 'clean' });
      expect(journal.disk.unsynced(failed.mark)).toMatchObject({ paths: [], hasEarlier: true });
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
      journal.disk.record([row('d/old', span.beganMs - 50), row('d/during', span.beganMs), row('other', 1)]);
      const { mark, paths } = journal.disk.unsynced();
      expect([...paths].sort()).toEqual(['d/during', 'd/old', 'other']);
      journal.disk.record([row('other', 2)]);
      journal.disk.synced(0, mark, span);
      expect(['d/old', 'd/during', 'other'].map((path) => journal.disk.at(path)?.unconfirmed)).toEqual([
        'clean',
        'dirty',
        'dirty',
      ]);
      expect(journal.disk.unconfirmed('d').toSorted()).toEqual(['d/during', 'd/old']);
      expect(journal.disk.unconfirmed('other')).toEqual(['other']);
      expect(journal.disk.unsynced().paths.toSorted()).toEqual(['d/during', 'other']);

      const clean = journal.disk.clean(undefined, 10);
      expect(clean.map(({ path }) => path)).toEqual(['d/old']);
      journal.disk.record([{ path: 'd/old', entry: { ...row('d/old', 3).entry, unconfirmed: 'clean' } }]);
      journal.disk.confirmed(clean);
      expect(journal.disk.at('d/old'), 'changed after it was read').toMatchObject({ unconfirmed: 'clean', racy: true });
      journal.disk.confirmed([
        ...journal.disk.clean(undefined, 10),
        ...['d/during', 'other'].flatMap((path) => journal.disk.at(path) ?? []),
      ]);
      expect(journal.disk.at('d/old')).toMatchObject({ racy: false });
      expect(journal.disk.at('d/old')?.unconfirmed).toBeUndefined();
      expect(journal.disk.unconfirmed('').toSorted(), 'never clean').toEqual(['d/during', 'other']);
    });

    test('[PC6] damage that a power cut left is certain once it was read again', () => {
      const certain = { dot: dot(ant, 1), fingerprint: fingerprint(1), damaged: true, cut: true, racy: false } as const;
      const clean = { ...certain, unconfirmed: 'clean' } as const;
      const mode = { ...clean, content: content(1) };
      const other = { ...clean, found: content(1) };
      journal.disk.record([
        { path: 'mode', entry: mode },
        { path: 'other', entry: other },
        { path: 'unread', entry: certain },
      ]);
      const isRead = (path: string, entry: Omit<DiskEntry, 'path'>): void =>
        journal.disk.confirmed([{ path, ...entry }]);
      isRead('mode', mode);
      isRead('other', { ...other, found: content(2) });
      expect(journal.disk.unconfirmed('')).toEqual(['other']);
      isRead('other', other);
      expect(journal.disk.damaged()).toEqual([
        { path: 'mode', ...certain, content: content(1) },
        { path: 'other', ...certain, found: content(1) },
        { path: 'unread', ...certain },
      ]);
    });

    test('[WT40] the files of the disk come page by page, as in their rows', () => {
      const entry = { dot: dot(ant, 1), content: content(1), fingerprint: fingerprint(7) };
      const { content: _, ...directory } = entry;
      journal.disk.record([
        { path: 'a', entry },
        { path: 'b', entry: directory },
        { path: 'c', entry },
        { path: 'd', entry: { dot: dot(ant, 1) } },
      ]);
      const first = journal.fingerprints.after(undefined, 1);
      expect([first.paths, journal.fingerprints.after('a', 9).paths, journal.fingerprints.after('c', 9).paths]).toEqual(
        [['a'], ['c'], []],
      );
      expect(fingerprintAt(first, 0)).toEqual(fingerprint(7));
      expect(journal.fingerprints.at(['c', 'd', 'b', 'a', 'none']).paths).toEqual(['c', 'a']);
    });

    test('[WT40] a page of files is read again only after a change', () => {
      const entry = { dot: dot(ant, 1), content: content(1), fingerprint: fingerprint(7) };
      journal.disk.record([{ path: 'a', entry }]);
      const page = journal.fingerprints.after(undefined, 9);
      expect(journal.fingerprints.after(undefined, 9)).toBe(page);
      expect(journal.fingerprints.after('a', 9).paths).toEqual([]);
      journal.disk.record([{ path: 'b', entry }]);
      expect(journal.fingerprints.after(undefined, 9).paths).toEqual(['a', 'b']);
      journal.disk.record([{ path: 'a', entry: undefined }]);
      expect(journal.fingerprints.after(undefined, 9).paths).toEqual(['b']);
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
      const children = (directory: string) => pathsOf(journal.disk.children(directory, undefined, 9999));
      expect(children('')).toEqual(['d', 'd-', 'd0', 'w']);
      expect(children('d')).toEqual(['d/a', 'd/a-', 'd/a0', 'd/c\u{10ffff}']);
      expect(children('d/a')).toEqual(['d/a/x']);
      expect(children('w')).toEqual(wide);
      expect(children('nowhere')).toEqual([]);
      expect(pathsOf(journal.disk.children('d', 'd/a', 2))).toEqual(['d/a-', 'd/a0']);
      expect(pathsOf(journal.disk.below('d', undefined, 99))).toEqual([
        ...['d/a', 'd/a-', 'd/a/x', 'd/a/x/y', 'd/a0', 'd/b/only/deep', 'd/c\u{10ffff}'],
      ]);
      expect(pathsOf(journal.disk.below('d', 'd/a-', 2))).toEqual(['d/a/x', 'd/a/x/y']);
      expect(journal.disk.below('', undefined, 9999)).toHaveLength(paths.length - 1);
    });

    test('entries are found by content and by inode number, absent ones are not', () => {
      show(journal, put(ant, 1, 'x'), put(ant, 2, 'y', { content: content(1) }), put(ant, 3, 'z'));
      expect(pathsOf(journal.disk.withContent(content(1), 9))).toEqual(['x', 'y']);
      expect(journal.disk.withContent(content(1), 1)).toHaveLength(1);
      expect(pathsOf(journal.disk.withInode(3))).toEqual(['z']);
      show(journal, remove(ant, 4, 'x'), remove(ant, 5, 'z'));
      expect(pathsOf(journal.disk.withContent(content(1), 9))).toEqual(['y']);
      expect(journal.disk.withInode(3)).toEqual([]);
    });

    test('an entry of the member list has no place there', () => {
      const { path } = memberOperation(ant, 1, { id: antMember, name: '', addresses: [], membership: 'left' });
      expect(() => journal.disk.record([{ path, entry: { dot: dot(ant, 1) } }])).toThrow('no place on the disk');
    });
  });
}
