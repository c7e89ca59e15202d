import { beforeEach, describe, expect, test } from 'vitest';
import type { Journal } from '../sync/ports/journal.ts';
import {
  ant,
  antMember,
  bee,
  content,
  dot,
  fingerprint,
  memberOperation,
  pathsOf,
  put,
  remove,
  show,
} from './fixtures.contract.ts';

/** What the rows of disk say, and what follows from them and the heads. */
export function diskContract(open: () => Journal): void {
  let journal: Journal;
  beforeEach(() => {
    journal = open();
    return () => journal.close();
  });

  describe('disk', () => {
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

    test('children and what lies below, at any width', () => {
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
