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
      expect(journal.uses.all()).toEqual([]);
      journal.uses.note([use('a', 1), use('b', 2), use('c', 3)], []);
      journal.uses.note([use('a', 4)], ['b', 'never there']);
      expect(journal.uses.all()).toEqual([use('c', 3), use('a', 4)]);
    });
  });

  describe('transactions', () => {
    const fill = () => {
      journal.append([mkdir(ant, 1, 'd'), put(ant, 2, 'd/x'), put(bee, 1, 'd/x', { hlc: 1 })]);
      show(journal, mkdir(ant, 1, 'd'));
      journal.events.add(1, 'joined', {});
    };
    const everything = () => ({
      known: journal.log.known(),
      applied: journal.applied(),
      counts: journal.totals.counts(),
      digest: journal.totals.digest(),
      heads: journal.heads.under('', undefined, 99),
      orphans: journal.heads.orphans(undefined, 99),
      disk: journal.disk.below('', undefined, 99),
      events: journal.events.after(0, 99),
      lastEvent: journal.events.lastNumber(),
    });
    const change = () => {
      journal.append([remove(ant, 3, 'd'), put(cat, 1, 'new/y')]);
      show(journal, put(ant, 2, 'd/x'), put(cat, 1, 'new/y'));
      journal.events.add(2, 'left', {});
      journal.settings.set('name', 'value');
      journal.acks.save(beeMember, { vector: {}, ranges: {} });
      expect(journal.log.length()).toBe(5);
      expect(journal.heads.orphans(undefined, 9)).toHaveLength(2);
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
      expect([journal.settings.get('name'), journal.acks.all()]).toEqual([undefined, {}]);
      journal.transaction(change);
      expect(journal.events.after(1, 9)).toEqual([{ number: 2, at: 2, kind: 'left', data: {} }]);
      expect(journal.verifyHeads(false)).toEqual({ compared: 3, differing: [] });
    });

    test('[JN2] a value read in a failed transaction does not outlive it', () => {
      const run = () =>
        journal.transaction(() => {
          journal.append([put(ant, 1, 'undone')]);
          expect(journal.heads.at('undone')).toHaveLength(1);
          expect(journal.log.known()).toEqual({ [ant]: 1 });
          throw new Error('no');
        });
      expect(run).toThrow('no');
      expect([journal.log.known(), journal.log.operation(dot(ant, 1))]).toEqual([{}, undefined]);
      journal.append([put(bee, 1, 'kept')]);
      expect(journal.heads.at('kept')).toEqual([put(bee, 1, 'kept')]);
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
      expect(journal.log.known()).toEqual({ [ant]: 1 });
    });

    test('an asynchronous body is refused', () => {
      expect(() => journal.transaction(async () => journal.append([put(ant, 1, 'x')]))).toThrow('asynchronous');
      expect(journal.log.known()).toEqual({});
    });
  });

  describe('the other tables', () => {
    test('[AK4] acknowledgements', () => {
      const applied = { vector: { [ant]: 4 }, ranges: { [ant]: [[6, 7]] as const } };
      journal.acks.save(beeMember, { vector: {}, ranges: {} });
      journal.acks.save(beeMember, applied);
      expect(journal.acks.all()).toEqual({ [beeMember]: applied });
    });

    test('settings', () => {
      journal.settings.set('origin', '1');
      journal.settings.set('origin', '2');
      expect([journal.settings.get('origin'), journal.settings.get('none'), journal.origin]).toEqual([
        '2',
        undefined,
        ant,
      ]);
    });

    test('events are numbered without gaps, and only the newest are kept', () => {
      journal.transaction(() => {
        for (let at = 1; at <= eventsMax + 5; at += 1) journal.events.add(at, 'kind', { at });
      });
      expect(journal.events.lastNumber()).toBe(eventsMax + 5);
      expect(journal.events.after(0, 1)).toEqual([{ number: 6, at: 6, kind: 'kind', data: { at: 6 } }]);
      expect(journal.events.after(eventsMax, 99).map(({ number }) => number - eventsMax)).toEqual([1, 2, 3, 4, 5]);
    });

    test('[JN4] a new journal has an origin of its member and nothing else', () => {
      expect(journal.origin).toBe(ant);
      const nothing = { files: 0, directories: 0, bytes: 0 };
      expect(journal.totals.counts()).toEqual({
        ...nothing,
        pending: 0,
        contested: 0,
        missingBytes: 0,
        disk: nothing,
      });
      expect([journal.totals.digest(), journal.log.known(), journal.applied()]).toEqual([
        '0'.repeat(16),
        {},
        { vector: {}, ranges: {} },
      ]);
      expect(journal.verifyHeads(true)).toEqual({ compared: 0, differing: [] });
    });
  });
}
