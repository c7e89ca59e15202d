import type { Operation } from '@lockstep/shared';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Journal } from '../sync/ports/journal.ts';
import {
  after,
  ant,
  antMember,
  bee,
  cat,
  content,
  dot,
  journaledAt,
  memberOperation,
  mkdir,
  put,
  remove,
} from './fixtures.contract.ts';

/** The log keeps operations. */
export function logContract(open: () => Journal): void {
  let journal: Journal;
  beforeEach(() => {
    journal = open();
    return () => journal.close();
  });

  describe('the log', () => {
    const dirVersion = { vector: { [ant]: 2, [bee]: 7 }, except: [dot(ant, 1)] };
    const kinds: readonly Operation[] = [
      put(ant, 1, 'empty', { size: 0, content: content(0) }),
      mkdir(ant, 2, 'dir', { version: dirVersion, from: 'old', group: 2, span: 5, mode: 0o2755 }),
      { ...remove(ant, 3, 'gone'), replaced: content(9) },
      {
        origin: ant,
        seq: 4,
        hlc: 5,
        kind: 'symlink',
        path: 'link',
        version: { vector: { [ant]: 4 } },
        target: '',
        mtimeUs: -1,
      },
      put(ant, 5, 'attr', { kind: 'attr', hlc: Number.MAX_SAFE_INTEGER }),
      memberOperation(ant, 6, { id: antMember, name: 'Ameise 🐜', addresses: ['127.0.0.1:1'], membership: 'joined' }),
      put(ant, 7, 'big', {
        content: `b3t:${'f'.repeat(64)}` as never,
        size: 2 ** 40,
        blocks: new Uint8Array(64).fill(7),
      }),
      put(ant, 8, 'joined', { version: { vector: { [ant]: 8, [bee]: 3 } }, keeps: [dot(bee, 3), dot(ant, 7)] }),
      put(ant, 9, '- \n%\\é🐜\u{10ffff}', { version: { vector: { [bee]: 1 } } }),
      put(ant, 10, 'named', { version: { vector: { [ant]: 10, [bee]: 3 } }, marks: new Uint8Array(8).fill(5) }),
    ];

    test('[JN3] returns every field of every kind', () => {
      expect(journal.append(kinds)).toEqual(kinds);
      expect(journal.log.operationsOf(ant, 0, 100)).toStrictEqual(kinds);
      for (const operation of kinds) expect(journal.log.operation(operation)).toStrictEqual(operation);
      for (const operation of kinds) expect(journal.heads.at(operation.path)).toStrictEqual([operation]);
    });

    test('[JN3] returns one operation with its row and the time at which it was journaled', () => {
      journal.append(kinds);
      for (const { row, operation, journaledAt: at } of journal.log.rows({ afterRow: 0, limit: 100 })) {
        expect(journal.log.row(operation)).toEqual({ row, operation, journaledAt: at });
      }
      expect(journal.log.row(dot(ant, 99))).toBeUndefined();
      expect(journal.log.row(dot(cat, 1))).toBeUndefined();
    });

    test('[JN1] skips the operations that it has, also within one call', () => {
      const [first, second] = [put(ant, 1, 'a'), put(ant, 2, 'b')];
      expect(journal.append([first, second, first])).toEqual([first, second]);
      expect(journal.append([second, put(ant, 3, 'c'), first])).toEqual([put(ant, 3, 'c')]);
      expect(journal.log.known()).toEqual({ [ant]: 3 });
      expect(journal.log.length()).toBe(3);
    });

    test.each([
      ['from the start', [put(bee, 2, 'x')]],
      ['after the known ones', [put(ant, 3, 'x')]],
      ['within the call', [put(ant, 2, 'x'), put(ant, 4, 'y')]],
    ])('[JN1] refuses a gap %s and takes nothing', (_, operations) => {
      journal.append([put(ant, 1, 'a')]);
      const digest = journal.totals.digest();
      expect(() => journal.append(operations)).toThrow('numbers are missing');
      expect(journal.log.known()).toEqual({ [ant]: 1 });
      expect([journal.totals.digest(), journal.heads.at('x')]).toEqual([digest, []]);
    });

    test('an origin that is only mentioned is not known', () => {
      journal.append([put(ant, 1, 'a', { version: after(dot(ant, 1), dot(bee, 9)) })]);
      expect(journal.log.known()).toEqual({ [ant]: 1 });
      expect(journal.applied().vector).toEqual({});
      expect([journal.log.operation(dot(bee, 9)), journal.log.operation(dot(cat, 1))]).toEqual([undefined, undefined]);
    });

    test('[JN1] returns the operations beyond a vector, origin by origin in seq order', () => {
      const ofAnt = [1, 2, 3, 4, 5].map((seq) => put(ant, seq, `a${seq}`));
      const ofBee = [1, 2].map((seq) => put(bee, seq, `b${seq}`));
      journal.append([...ofAnt.slice(0, 2), ...ofBee, ...ofAnt.slice(2)]);
      expect(journal.log.operationsOf(ant, 1, 2)).toEqual(ofAnt.slice(1, 3));
      expect([...journal.log.operationsBeyond({}, 2)]).toEqual([
        ofAnt.slice(0, 2),
        ofAnt.slice(2, 4),
        ofAnt.slice(4),
        ofBee,
      ]);
      expect([...journal.log.operationsBeyond({ [ant]: 4, [bee]: 9, [cat]: 1 }, 2)]).toEqual([ofAnt.slice(4)]);
    });

    test('returns what was added, taken back or cut off since the same question was asked', () => {
      const [first, second, third] = [put(ant, 1, 'a'), put(ant, 2, 'b'), put(ant, 3, 'c')];
      const all = (): readonly Operation[] => journal.log.operationsOf(ant, 0, 9);
      expect(all()).toEqual([]);
      journal.append([first]);
      expect(all()).toEqual([first]);
      journal.append([second]);
      expect(all()).toEqual([first, second]);
      const failing = (): void => {
        journal.append([third]);
        expect(all()).toEqual([first, second, third]);
        throw new Error('taken back');
      };
      expect(() => journal.transaction(failing)).toThrow('taken back');
      expect(all()).toEqual([first, second]);
      journal.seal(ant, 1);
      expect(all()).toEqual([first]);
    });

    test('can be read in both directions, as a whole and for one path', () => {
      const operations = [put(bee, 1, 'x'), put(ant, 1, 'y'), put(bee, 2, 'x'), put(ant, 2, 'x')];
      journal.append(operations.slice(0, 2));
      journal.append(operations.slice(2));
      const rows = operations.map((operation, index) => ({ row: index + 1, operation, journaledAt }));
      expect(journal.log.rows({ limit: 9 })).toEqual(rows);
      expect(journal.log.rows({ afterRow: 1, limit: 2 })).toEqual(rows.slice(1, 3));
      expect(journal.log.rows({ beforeRow: 4, limit: 2 }).map(({ row }) => row)).toEqual([3, 2]);
      expect(journal.log.rows({ path: 'x', limit: 9 }).map(({ row }) => row)).toEqual([1, 3, 4]);
      expect(journal.log.rows({ path: 'x', beforeRow: 4, limit: 1 }).map(({ row }) => row)).toEqual([3]);
      expect(journal.log.rows({ path: 'x', afterRow: 1, beforeRow: 4, limit: 9 }).map(({ row }) => row)).toEqual([3]);
      expect(journal.log.rows({ path: 'z', limit: 9 })).toEqual([]);
    });

    test('can be read in both directions for a directory and all paths below it', () => {
      const names = ['d', 'd/a', 'other', 'd.x', 'd/e/b', 'd0', 'd/a'];
      journal.append(names.map((name, index) => put(ant, index + 1, name)));
      const rows = (query: Parameters<typeof journal.log.rows>[0]) => journal.log.rows(query).map(({ row }) => row);
      expect(rows({ under: 'd', limit: 9 })).toEqual([1, 2, 5, 7]);
      expect(rows({ under: 'd', beforeRow: 7, limit: 2 })).toEqual([5, 2]);
      expect(rows({ under: 'd', beforeRow: Number.MAX_SAFE_INTEGER, limit: 9 })).toEqual([7, 5, 2, 1]);
      expect(rows({ under: 'd', afterRow: 2, limit: 1 })).toEqual([5]);
      expect(rows({ under: 'd/a', limit: 9 })).toEqual([2, 7]);
      expect(rows({ under: 'x', beforeRow: 9, limit: 9 })).toEqual([]);
    });

    test('finds every content that a path had', () => {
      journal.append([put(ant, 1, 'x'), put(ant, 2, 'x'), remove(ant, 3, 'x'), put(ant, 4, 'y')]);
      const contents = [1, 2, 3, 4].map((seq) => journal.log.everHad('x', { content: content(seq) }));
      expect(contents).toEqual([true, true, false, false]);
    });

    test('finds the operations of a path that have a stamp', () => {
      journal.append([put(ant, 1, 'x'), put(ant, 2, 'x'), put(ant, 3, 'y')]);
      const [first, , third] = journal.log.rows({ limit: 9 }).map(({ operation }) => operation);
      expect(journal.log.stamped('x', first?.hlc ?? 0)).toEqual([first]);
      expect(journal.log.stamped('y', third?.hlc ?? 0)).toEqual([third]);
      expect(journal.log.stamped('x', 1)).toEqual([]);
    });
  });
}
