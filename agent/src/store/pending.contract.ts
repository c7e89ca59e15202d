import { appliedRangesMax, type MemberRecord, type Operation, type OriginId } from '@lockstep/shared';
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
  fingerprint,
  memberOperation,
  mkdir,
  pathsOf,
  put,
  remove,
  show,
} from './fixtures.contract.ts';

/** The pending paths, and the operations that are applied. */
export function pendingContract(open: () => Journal): void {
  let journal: Journal;
  beforeEach(() => {
    journal = open();
    return () => journal.close();
  });

  describe('pending', () => {
    const live = (from?: string, limit = 99) => pathsOf(journal.heads.pending({ which: 'live', after: from, limit }));
    const deletes = (from?: string, limit = 99) =>
      pathsOf(journal.heads.pending({ which: 'delete', after: from, limit }));
    const first = put(ant, 1, 'x');
    const edit = put(ant, 2, 'x');
    const gone = remove(ant, 2, 'x');
    const sibling = put(bee, 1, 'x', { hlc: 1 });

    const member = memberOperation(ant, 1, { id: antMember, name: 'a', addresses: [], membership: 'joined' });

    /** A step is an operation to append, or a row of `disk` to write. */
    type Step =
      | Operation
      | { readonly shown: Operation }
      | { readonly absent: Operation }
      | { readonly damaged: Operation }
      | 'forgotten';
    const take = (step: Step): void => {
      if (step === 'forgotten') journal.disk.record([{ path: 'x', entry: undefined }]);
      else if ('damaged' in step) {
        const entry = { dot: step.damaged, fingerprint: fingerprint(1), damaged: true };
        journal.disk.record([{ path: 'x', entry }]);
      } else if ('shown' in step) show(journal, step.shown);
      else if ('absent' in step) journal.disk.record([{ path: 'x', entry: { dot: step.absent } }]);
      else journal.append([step]);
    };

    test.each<{ name: string; steps: readonly Step[]; live?: boolean; delete?: boolean }>([
      { name: 'an entry that the disk does not have', steps: [first], live: true },
      { name: 'the disk shows it', steps: [first, { shown: first }] },
      { name: 'the disk showed it before it was known', steps: [{ shown: first }, first] },
      { name: 'the disk shows an older one', steps: [first, edit, { shown: first }], live: true },
      { name: 'a delete of an entry that never was here', steps: [first, gone] },
      { name: 'a delete of an entry that is here', steps: [first, { shown: first }, gone], delete: true },
      { name: 'a delete that the disk shows', steps: [first, gone, { shown: first }, { shown: gone }] },
      { name: 'a delete of an entry that is absent under an older operation', steps: [first, gone, { absent: first }] },
      { name: 'an entry that counts as shown although absent (ignored here)', steps: [first, { absent: first }] },
      { name: 'the row of disk was removed', steps: [first, { shown: first }, 'forgotten'], live: true },
      { name: 'a sibling that lost', steps: [first, { shown: first }, sibling] },
      { name: 'a sibling that won', steps: [sibling, { shown: sibling }, first], live: true },
      { name: 'an entry that is damaged', steps: [first, { damaged: first }], live: true },
      { name: 'a damaged entry that was repaired', steps: [first, { damaged: first }, { shown: first }] },
      { name: 'a damaged entry with a later head', steps: [first, { damaged: first }, edit], live: true },
      { name: 'a deleted entry that is back', steps: [first, gone, { damaged: gone }], delete: true },
      { name: 'a row of disk without any operation', steps: [{ shown: first }] },
      { name: 'an entry of the member list', steps: [member] },
    ])('$name', ({ steps, live: isLive = false, delete: isDelete = false }) => {
      for (const step of steps) take(step);
      expect([live(), deletes()]).toEqual([isLive ? ['x'] : [], isDelete ? ['x'] : []]);
      expect(journal.totals.counts().pending).toBe(Number(isLive) + Number(isDelete));
      expect(journal.verifyHeads(false).differing).toEqual([]);
    });

    test('entries stream parents first, deletes children first', () => {
      const paths = ['d', 'd/e', 'd/e/f', 'g'];
      const made = paths.map((path, index) => mkdir(ant, index + 1, path));
      journal.append(made);
      expect([live(undefined, 2), live('d/e', 2), live('g')]).toEqual([['d', 'd/e'], ['d/e/f', 'g'], []]);
      show(journal, ...made);
      journal.append(paths.map((path, index) => remove(ant, index + 5, path)));
      expect([deletes(undefined, 2), deletes('d/e/f', 2), deletes('d')]).toEqual([['g', 'd/e/f'], ['d/e', 'd'], []]);
    });

    test('pending paths come with all heads and the row of disk', () => {
      journal.append([sibling]);
      show(journal, sibling);
      journal.append([first]);
      const disk = { path: 'x', dot: dot(bee, 1), content: content(1), fingerprint: fingerprint(1) };
      expect(journal.heads.pending({ which: 'live', limit: 9 })).toEqual([
        { path: 'x', heads: [first, sibling], disk },
      ]);
    });
  });

  describe('applied', () => {
    const numbered = (by: OriginId, count: number) =>
      Array.from({ length: count }, (_, index) => put(by, index + 1, `${by.slice(0, 1)}${index + 1}`));

    test.each<{ name: string; shown: readonly number[]; upTo?: number; ranges?: readonly (readonly number[])[] }>([
      { name: 'nothing', shown: [] },
      { name: 'everything', shown: [1, 2, 3, 4, 5, 6], upTo: 6 },
      { name: 'the beginning', shown: [1, 2], upTo: 2 },
      { name: 'the end', shown: [5, 6], ranges: [[5, 6]] },
      { name: 'the middle', shown: [3], ranges: [[3, 3]] },
      {
        name: 'here and there',
        shown: [1, 3, 4, 6],
        upTo: 1,
        ranges: [
          [3, 4],
          [6, 6],
        ],
      },
    ])('[AK2] the disk shows $name', ({ shown, upTo, ranges }) => {
      const operations = numbered(bee, 6);
      journal.append(operations);
      show(journal, ...operations.filter(({ seq }) => shown.includes(seq)));
      expect(journal.applied()).toEqual({
        vector: upTo === undefined ? {} : { [bee]: upTo },
        ranges: ranges === undefined ? {} : { [bee]: ranges },
      });
    });

    test('[AK1] a superseded operation is applied with the one that supersedes it, or before', () => {
      journal.append([put(bee, 1, 'x'), put(bee, 2, 'x')]);
      expect(journal.applied()).toEqual({ vector: { [bee]: 1 }, ranges: {} });
    });

    test('[AK1] a live sibling that lost is not applied until it is superseded; a delete that lost is', () => {
      const operations = [put(ant, 1, 'x'), put(bee, 1, 'x', { hlc: 1 }), remove(cat, 1, 'x'), put(bee, 2, 'y')];
      journal.append(operations);
      show(journal, put(ant, 1, 'x'), put(bee, 2, 'y'));
      expect(journal.applied()).toEqual({ vector: { [ant]: 1, [cat]: 1 }, ranges: { [bee]: [[2, 2]] } });
      const joined = put(ant, 2, 'x', { version: after(dot(ant, 2), dot(bee, 1), dot(cat, 1)) });
      journal.append([joined]);
      show(journal, joined);
      expect(journal.applied()).toEqual({ vector: { [ant]: 2, [bee]: 2, [cat]: 1 }, ranges: {} });
    });

    test('[AK1] entries of the member list are applied once they are known, contested ones too', () => {
      const record: MemberRecord = { id: beeMember, name: 'bee', addresses: [], membership: 'joined' };
      journal.append([memberOperation(bee, 1, record), memberOperation(cat, 1, { ...record, name: 'bea' })]);
      expect(journal.totals.counts()).toMatchObject({ contested: 1, pending: 0 });
      expect(journal.applied()).toEqual({ vector: { [bee]: 1, [cat]: 1 }, ranges: {} });
    });

    test('[AK2] the ranges are bounded, and the last one is always among them', () => {
      const operations = numbered(bee, 1000);
      journal.append(operations);
      show(journal, ...operations.filter(({ seq }) => seq % 3 === 0 || seq > 900));
      const ranges = journal.applied().ranges[bee] ?? [];
      expect(ranges).toHaveLength(appliedRangesMax);
      expect(ranges.slice(0, 2)).toEqual([
        [3, 3],
        [6, 6],
      ]);
      expect(ranges.at(-1)).toEqual([899 + 1, 1000]);
    });
  });
}
