import { beforeEach, describe, expect, test } from 'vitest';
import type { Journal } from '../sync/ports/journal.ts';
import { ant, antMember, memberOperation, mkdir, pathsOf, put, remove } from './fixtures.contract.ts';

/** The tree can be walked and searched. */
export function treeContract(open: () => Journal): void {
  let journal: Journal;
  beforeEach(() => {
    journal = open();
    return () => journal.close();
  });

  describe('the tree', () => {
    /** Journals files at these paths, after the operations so far. */
    const files = (...paths: readonly string[]) => {
      const first = journal.log.length() + 1;
      journal.append(paths.map((path, index) => put(ant, first + index, path)));
    };
    const children = (directory: string, after?: string, limit = 99) =>
      pathsOf(journal.tree.liveChildren(directory, after, limit));

    test('[TR1] a directory lists its own entries, not those of the directories in it', () => {
      journal.append([mkdir(ant, 1, 'a'), mkdir(ant, 2, 'a/d'), put(ant, 3, 'a/d/x'), put(ant, 4, 'a/gone')]);
      journal.append([remove(ant, 5, 'a/gone'), put(ant, 6, 'a/d-'), put(ant, 7, 'a/🐜'), put(ant, 8, 'a.b')]);
      journal.append([memberOperation(ant, 9, { id: antMember, name: 'ant', addresses: [], membership: 'joined' })]);
      expect(children('')).toEqual(['a', 'a.b']);
      expect(children('a')).toEqual(['a/d', 'a/d-', 'a/🐜']);
      expect(children('a/d/x')).toEqual([]);
      expect(['', 'a', 'a/d', 'a/🐜'].map((path) => journal.tree.liveChildCount(path))).toEqual([2, 3, 1, 0]);
    });

    test('[TR1] pages follow each other, even if entries come or go in between', () => {
      files(...Array.from({ length: 40 }, (_, index) => `d/${String(index).padStart(2, '0')}/x`));
      journal.append(Array.from({ length: 40 }, (_, n) => mkdir(ant, 41 + n, `d/${String(n).padStart(2, '0')}`)));
      const [first, second] = [children('d', undefined, 30), children('d', 'd/29', 30)];
      expect([first.length, second.length]).toEqual([30, 10]);
      expect([...first, ...second]).toEqual([...new Set([...first, ...second])].sort());
      files('d/29a');
      expect(children('d', 'd/29', 2)).toEqual(['d/29a', 'd/30']);
      expect(children('d', 'd/28z', 1)).toEqual(['d/29']);
      expect(children('d', undefined, 0)).toEqual([]);
    });

    test('[TR5] the deletes directly in a directory are listed by name, a page at a time', () => {
      files('d/a', 'd/b', 'd/c', 'd/sub/x', 'e');
      journal.append(['d/a', 'd/c', 'd/sub/x', 'e'].map((path, index) => remove(ant, 6 + index, path)));
      const deleted = (directory: string, after?: string, limit = 99) =>
        pathsOf(journal.tree.deletedChildren(directory, after, limit));
      expect(deleted('d')).toEqual(['d/a', 'd/c']);
      expect(deleted('d', 'd/a')).toEqual(['d/c']);
      expect(deleted('d', undefined, 1)).toEqual(['d/a']);
      expect(deleted('d/sub')).toEqual(['d/sub/x']);
      expect(deleted('')).toEqual(['e']);
      expect(deleted('nothing')).toEqual([]);
    });

    test('[TR4] the files below a directory are summed, as far as a number of paths reaches', () => {
      journal.append([mkdir(ant, 1, 'a'), put(ant, 2, 'a/x'), mkdir(ant, 3, 'a/d'), put(ant, 4, 'a/d/y')]);
      journal.append([put(ant, 5, 'a.b'), put(ant, 6, 'a0'), put(ant, 7, 'a/gone'), remove(ant, 8, 'a/gone')]);
      // The fixture's files have ten bytes for each number of their operation.
      expect(journal.tree.sumBelow('a', 99)).toEqual({ bytes: 20 + 40, paths: 3 });
      expect(journal.tree.sumBelow('a/d', 99)).toEqual({ bytes: 40, paths: 1 });
      expect(journal.tree.sumBelow('a/x', 99)).toEqual({ bytes: 0, paths: 0 });
      expect(journal.tree.sumBelow('', 99)).toEqual({ bytes: 20 + 40 + 50 + 60, paths: 6 });
      expect(journal.tree.sumBelow('a', 2)).toEqual({ bytes: 40, paths: 2 });
    });

    test('[TR2] a search ignores case, and looks in names only unless the text has a slash', () => {
      files('Photos/one.JPG', 'Photos/photo.txt', 'Ärger/x', 'a/ärgerlich', '100%/5_5', '100%/555', 'z/日本', 'z/日木');
      const found = (text: string) => pathsOf(journal.tree.search(text, undefined, { limit: 99, pathsMax: 99 }).found);
      expect(found('photo')).toEqual(['Photos/photo.txt']);
      expect(found('jpg')).toEqual(['Photos/one.JPG']);
      expect(found('ÄRGER')).toEqual(['a/ärgerlich']);
      expect(found('5_5')).toEqual(['100%/5_5']);
      expect(found('%')).toEqual([]);
      expect(found('本')).toEqual(['z/日本']);
      expect(found('photos/o')).toEqual(['Photos/one.JPG']);
      expect(found(antMember)).toEqual([]);
    });

    test('[TR2] a search continues after its last slice', () => {
      files('a1', 'a2', 'b1', 'b2', 'c1');
      const slices = [];
      for (let after: string | undefined, first = true; first || after !== undefined; first = false) {
        const slice = journal.tree.search('1', after, { limit: 2, pathsMax: 2 });
        slices.push(pathsOf(slice.found));
        after = slice.next;
      }
      expect(slices).toEqual([['a1'], ['b1'], ['c1']]);
      expect(journal.tree.search('a', undefined, { limit: 1, pathsMax: 9 }).next).toBe('a1');
    });

    test('entries with a common prefix', () => {
      files('d/a.conflict-1', 'd/a.conflict-2', 'd/a.txt', 'd/b');
      expect(pathsOf(journal.tree.liveWithPrefix('d/a.conflict-', 9))).toEqual(['d/a.conflict-1', 'd/a.conflict-2']);
      expect(pathsOf(journal.tree.liveWithPrefix('d/a', 1))).toEqual(['d/a.conflict-1']);
    });
  });
}
