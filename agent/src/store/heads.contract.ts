import type { MemberRecord } from '@lockstep/shared';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Journal } from '../sync/ports/journal.ts';
import {
  after,
  ant,
  antMember,
  bee,
  beeMember,
  cat,
  content,
  dot,
  memberOperation,
  mkdir,
  pathsOf,
  put,
  remove,
} from './fixtures.contract.ts';

/** The heads that follow from the operations. */
export function headsContract(open: () => Journal): void {
  let journal: Journal;
  beforeEach(() => {
    journal = open();
    return () => journal.close();
  });

  describe('heads', () => {
    const [mine, yours] = [put(ant, 1, 'x'), put(bee, 1, 'x', { content: content(2), hlc: 1 })];

    test('[MG1] an operation replaces those that it covers; concurrent ones stay, the visible one first', () => {
      journal.append([yours, mine]);
      expect(journal.heads.at('x')).toEqual([mine, yours]);
      expect([mine, yours].map((each) => journal.heads.has(each))).toEqual([true, true]);
      expect(journal.heads.contested(undefined, 9)).toEqual([{ path: 'x', heads: [mine, yours] }]);
      expect(journal.totals.counts()).toMatchObject({ files: 1, bytes: 10, contested: 1 });
      const joined = put(cat, 1, 'x', { version: after(dot(cat, 1), mine, yours) });
      journal.append([joined]);
      expect(journal.heads.at('x')).toEqual([joined]);
      expect([mine, yours, joined].map((each) => journal.heads.has(each))).toEqual([false, false, true]);
      expect(journal.totals.counts()).toMatchObject({ files: 1, contested: 0 });
    });

    test('an operation that is already superseded is only logged', () => {
      const later = put(bee, 1, 'x', { version: after(dot(bee, 1), mine) });
      journal.append([later]);
      const digest = journal.totals.digest();
      journal.append([mine]);
      expect([journal.heads.at('x'), journal.totals.digest()]).toEqual([[later], digest]);
      expect(journal.log.operation(mine)).toEqual(mine);
    });

    test('[CF8] conflict copies page by path and are counted: live files and links, by their own name only', () => {
      const copy = (path: string, by = 'bee') => `${path}.conflict-20261121T065602123Z-${by}`;
      journal.append([
        put(ant, 1, `${copy('b')}.txt`),
        put(ant, 2, 'b.txt'),
        mkdir(ant, 3, copy('d')),
        put(ant, 4, `${copy('d')}/inside`),
        put(ant, 5, copy('d/e', 'cat')),
        put(ant, 6, copy('a')),
        put(ant, 7, `${copy('c')} (copy).txt`),
        put(ant, 8, 'x.conflict-soon'),
      ]);
      expect(pathsOf(journal.conflictCopies.after(undefined, 9))).toEqual([
        copy('a'),
        `${copy('b')}.txt`,
        copy('d/e', 'cat'),
      ]);
      expect(pathsOf(journal.conflictCopies.after(copy('a'), 1))).toEqual([`${copy('b')}.txt`]);
      expect(journal.conflictCopies.count()).toBe(3);
      journal.append([remove(ant, 9, copy('a'), { version: after(dot(ant, 9), dot(ant, 6)) })]);
      expect(journal.conflictCopies.count()).toBe(2);
    });

    test('[CF13] removed conflict copies are listed, newest first, until something is at their path again', () => {
      const copy = (path: string) => `${path}.conflict-20261121T065602123Z-bee`;
      const paths = [copy('a'), copy('b'), 'x.conflict-soon', 'plain'];
      journal.append(paths.map((path, index) => put(ant, index + 1, path)));
      expect(journal.conflictCopies.removed(9)).toEqual([]);
      const removed = paths.map((path, index) =>
        remove(ant, index + 5, path, { version: after(dot(ant, index + 5), dot(ant, index + 1)) }),
      );
      journal.append(removed);
      expect(pathsOf(journal.conflictCopies.removed(9))).toEqual([copy('b'), copy('a')]);
      expect(pathsOf(journal.conflictCopies.removed(1))).toEqual([copy('b')]);
      journal.append([put(bee, 1, copy('b'), { version: after(dot(bee, 1), dot(ant, 6)) })]);
      expect(pathsOf(journal.conflictCopies.removed(9))).toEqual([copy('a')]);
    });

    test('contested paths and members page by path', () => {
      const record: MemberRecord = { id: beeMember, name: 'bee', addresses: [], membership: 'joined' };
      journal.append(['p', 'q', 'r'].map((path, index) => put(ant, index + 1, path)));
      journal.append(['p', 'q', 'r'].map((path, index) => put(bee, index + 1, path)));
      journal.append([memberOperation(bee, 4, record)]);
      expect(pathsOf(journal.heads.contested(undefined, 2))).toEqual(['p', 'q']);
      expect(pathsOf(journal.heads.contested('q', 2))).toEqual(['r']);
      journal.append([memberOperation(ant, 4, { ...record, id: antMember, name: 'ant', membership: 'left' })]);
      expect(journal.members.all().map(({ name }) => name)).toEqual(['ant', 'bee']);
      expect(journal.totals.counts()).toMatchObject({ files: 3, directories: 0 });
    });

    test('the heads under a prefix do not include its neighbours', () => {
      const paths = ['a', 'a-b', 'a.b', 'a/b', 'a/b/c', 'a/🐜', 'a0', 'b'];
      journal.append(paths.map((path, index) => put(ant, index + 1, path)));
      const under = (prefix: string, from: string | undefined, limit: number) =>
        pathsOf(journal.heads.under(prefix, from, limit));
      expect(under('', undefined, 99)).toEqual(paths);
      expect(under('', 'a.b', 2)).toEqual(['a/b', 'a/b/c']);
      expect(under('a', undefined, 99)).toEqual(['a', 'a/b', 'a/b/c', 'a/🐜']);
      expect(under('a', undefined, 1)).toEqual(['a']);
      expect(under('a', 'a', 1)).toEqual(['a/b']);
      expect(under('a', 'a/b', 99)).toEqual(['a/b/c', 'a/🐜']);
      expect(under('c', undefined, 99)).toEqual([]);
    });

    test('a content is found while a head has it', () => {
      journal.append([mine, yours]);
      expect(journal.heads.withContent(content(2))).toEqual(yours);
      journal.append([put(ant, 2, 'x', { version: after(dot(ant, 2), mine, yours), content: content(7) })]);
      expect(journal.heads.withContent(content(2))).toBeUndefined();
      expect(journal.heads.withContent(content(7))?.seq).toBe(2);
      const sameEnd = `b3:1${content(7).slice(4)}` as typeof mine.content;
      expect(sameEnd && journal.heads.withContent(sameEnd)).toBeUndefined();
    });

    test('all heads with a content are found, up to a limit', () => {
      journal.append(['p', 'q', 'r'].map((path, index) => put(ant, index + 1, path, { content: content(7) })));
      expect(pathsOf(journal.heads.allWithContent(content(7), 9)).toSorted()).toEqual(['p', 'q', 'r']);
      expect(journal.heads.allWithContent(content(7), 2)).toHaveLength(2);
      expect(journal.heads.allWithContent(content(2), 9)).toEqual([]);
    });
  });

  describe('parents', () => {
    const orphans = () => pathsOf(journal.heads.orphans(undefined, 99));

    test('a directory deleted with live entries in it leaves orphans, until it exists again', () => {
      journal.append([
        mkdir(ant, 1, 'd'),
        put(ant, 2, 'd/x'),
        mkdir(ant, 3, 'd/e'),
        put(ant, 4, 'd/e/y'),
        put(ant, 5, 'd-'),
      ]);
      expect(orphans()).toEqual([]);
      journal.append([remove(ant, 6, 'd')]);
      expect(orphans()).toEqual(['d/e', 'd/x']);
      expect(pathsOf(journal.heads.orphans('d/e', 1))).toEqual(['d/x']);
      journal.append([remove(ant, 7, 'd/x'), remove(ant, 8, 'd/e')]);
      expect(orphans()).toEqual(['d/e/y']);
      expect(journal.heads.hasLiveBelow('d')).toBe(true);
      journal.append([mkdir(ant, 9, 'd/e')]);
      expect(orphans()).toEqual(['d/e']);
      journal.append([mkdir(ant, 10, 'd')]);
      expect(orphans()).toEqual([]);
    });

    test('a file does not hold entries; a change of an orphan leaves it one', () => {
      journal.append([put(ant, 1, 'f/x'), put(ant, 2, 'f')]);
      expect(orphans()).toEqual(['f/x']);
      journal.append([put(ant, 3, 'f/x')]);
      expect(orphans()).toEqual(['f/x']);
      journal.append([put(bee, 1, 'f/x')]);
      expect(orphans()).toEqual(['f/x']);
      journal.append([mkdir(bee, 2, 'f')]);
      expect(orphans()).toEqual([]);
    });

    test('a live entry below is found at any depth', () => {
      journal.append([put(ant, 1, 'a/b/c/d'), put(ant, 2, 'a/b-'), put(ant, 3, 'e')]);
      const below = ['', 'a', 'a/b', 'a/b/c', 'a/b/c/d', 'a/b-', 'e'].map((path) => journal.heads.hasLiveBelow(path));
      expect(below).toEqual([true, true, true, true, false, false, false]);
      journal.append([remove(ant, 4, 'a/b/c/d')]);
      expect(['a', 'a/b', 'a/b/c'].map((path) => journal.heads.hasLiveBelow(path))).toEqual([true, false, false]);
      journal.append([remove(ant, 5, 'a/b-'), remove(ant, 6, 'e')]);
      expect(['', 'a'].map((path) => journal.heads.hasLiveBelow(path))).toEqual([false, false]);
    });
  });
}
