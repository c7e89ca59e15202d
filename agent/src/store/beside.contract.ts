import { beforeEach, describe, expect, test } from 'vitest';
import type { Journal } from '../sync/ports/journal.ts';
import { eventsMax } from './events.ts';
import { ant, bee, beeMember, cat, dot, mkdir, put, remove, show } from './fixtures.contract.ts';

/** Transactions, and the tables other than operations and disk. */
export function besideContract(open: () => Journal): void {
  let journal: Journal;
  beforeEach(() => {
    journal = open();
    return () => journal.close();
  });

  describe('uses', () => {
    test('[OD18] come back in their order, each file with its last one', () => {
      const use = (path: string, number: number) => ({ path, number, credit: number / 3, inflation: 0.25 });
      expect(journal.uses()).toEqual([]);
      journal.noteUses([use('a', 1), use('b', 2), use('c', 3)], []);
      journal.noteUses([use('a', 4)], ['b', 'never there']);
      expect(journal.uses()).toEqual([use('c', 3), use('a', 4)]);
    });
  });

  describe('transactions', () => {
    const fill = () => {
      journal.append([mkdir(ant, 1, 'd'), put(ant, 2, 'd/x'), put(bee, 1, 'd/x', { hlc: 1 })]);
      show(journal, mkdir(ant, 1, 'd'));
      journal.addEvent(1, 'joined', {});
    };
    const everything = () => ({
      known: journal.known(),
      applied: journal.applied(),
      counts: journal.counts(),
      digest: journal.digest(),
      heads: journal.headsUnder('', undefined, 99),
      orphans: journal.orphans(undefined, 99),
      disk: journal.diskBelow('', undefined, 99),
      events: journal.events(0, 99),
      lastEvent: journal.lastEventNumber(),
    });
    const change = () => {
      journal.append([remove(ant, 3, 'd'), put(cat, 1, 'new/y')]);
      show(journal, put(ant, 2, 'd/x'), put(cat, 1, 'new/y'));
      journal.addEvent(2, 'left', {});
      journal.setSetting('name', 'value');
      journal.saveAck(beeMember, { vector: {}, ranges: {} });
      expect(journal.counts().operations).toBe(5);
      expect(journal.orphans(undefined, 9)).toHaveLength(2);
    };

    test('[JN2] a throw rolls everything back, and the journal stays usable', () => {
      fill();
      const before = everything();
      const attempt = () =>
        journal.transaction(() => {
          change();
          throw new Error('no');
        });
      expect(attempt).toThrow('no');
      expect(everything()).toEqual(before);
      expect([journal.setting('name'), journal.acks()]).toEqual([undefined, {}]);
      journal.transaction(change);
      expect(journal.events(1, 9)).toEqual([{ number: 2, at: 2, kind: 'left', data: {} }]);
      expect(journal.verifyHeads(false)).toEqual({ compared: 3, differing: [] });
    });

    test('[JN2] a value read in a failed transaction does not outlive it', () => {
      const run = () =>
        journal.transaction(() => {
          journal.append([put(ant, 1, 'undone')]);
          expect(journal.heads('undone')).toHaveLength(1);
          expect(journal.known()).toEqual({ [ant]: 1 });
          throw new Error('no');
        });
      expect(run).toThrow('no');
      expect([journal.known(), journal.operation(dot(ant, 1))]).toEqual([{}, undefined]);
      journal.append([put(bee, 1, 'kept')]);
      expect(journal.heads('kept')).toEqual([put(bee, 1, 'kept')]);
    });

    test('[JN2] nested ones join the outer one, and a throw out of one rolls all back', () => {
      fill();
      const before = everything();
      const inner = () =>
        journal.transaction(() => {
          change();
          throw new Error('inner');
        });
      const outer = () =>
        journal.transaction(() => {
          expect(inner).toThrow('inner');
          return 'kept';
        });
      expect(outer).toThrow('inner');
      expect(everything()).toEqual(before);
      expect(journal.transaction(() => journal.transaction(() => 7))).toBe(7);
    });

    test('a refused gap leaves the transaction around it usable', () => {
      journal.transaction(() => {
        expect(() => journal.append([put(ant, 2, 'x')])).toThrow('missing');
        journal.append([put(ant, 1, 'x')]);
      });
      expect(journal.known()).toEqual({ [ant]: 1 });
    });

    test('an asynchronous body is refused', () => {
      expect(() => journal.transaction(async () => journal.append([put(ant, 1, 'x')]))).toThrow('asynchronous');
      expect(journal.known()).toEqual({});
    });
  });

  describe('the other tables', () => {
    test('[AK4] acknowledgements', () => {
      const applied = { vector: { [ant]: 4 }, ranges: { [ant]: [[6, 7]] as const } };
      journal.saveAck(beeMember, { vector: {}, ranges: {} });
      journal.saveAck(beeMember, applied);
      expect(journal.acks()).toEqual({ [beeMember]: applied });
    });

    test('settings', () => {
      journal.setSetting('origin', '1');
      journal.setSetting('origin', '2');
      expect([journal.setting('origin'), journal.setting('none'), journal.origin]).toEqual(['2', undefined, ant]);
    });

    test('events are numbered without gaps, and only the newest are kept', () => {
      journal.transaction(() => {
        for (let at = 1; at <= eventsMax + 5; at += 1) journal.addEvent(at, 'kind', { at });
      });
      expect(journal.lastEventNumber()).toBe(eventsMax + 5);
      expect(journal.events(0, 1)).toEqual([{ number: 6, at: 6, kind: 'kind', data: { at: 6 } }]);
      expect(journal.events(eventsMax, 99).map(({ number }) => number - eventsMax)).toEqual([1, 2, 3, 4, 5]);
    });

    test('[JN4] a new journal has an origin of its member and nothing else', () => {
      expect(journal.origin).toBe(ant);
      const nothing = { files: 0, directories: 0, bytes: 0 };
      expect(journal.counts()).toEqual({
        ...nothing,
        operations: 0,
        pending: 0,
        contested: 0,
        missingBytes: 0,
        disk: nothing,
      });
      expect([journal.digest(), journal.known(), journal.applied()]).toEqual([
        '0'.repeat(16),
        {},
        { vector: {}, ranges: {} },
      ]);
      expect(journal.verifyHeads(true)).toEqual({ compared: 0, differing: [] });
    });
  });
}
