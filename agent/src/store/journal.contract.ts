import { appliedRangesMax, type MemberRecord, type Operation, type OriginId } from '@lockstep/shared';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Journal } from '../sync/ports/journal.ts';
import { eventsMax } from './event-store.ts';
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
  journaledAt,
  memberOperation,
  mkdir,
  pathsOf,
  put,
  remove,
  show,
} from './fixtures.contract.ts';

/** What every journal does, wherever it keeps its data. `open` opens an empty one whose origin is `ant`. */
export function journalContract(open: () => Journal): void {
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
      memberOperation(ant, 6, { id: antMember, name: 'Ameise 🐜', addresses: ['127.0.0.1:1'], standing: 'joined' }),
      put(ant, 7, 'big', {
        content: `b3t:${'f'.repeat(64)}` as never,
        size: 2 ** 40,
        blocks: new Uint8Array(64).fill(7),
      }),
      put(ant, 8, '- \n%\\é🐜\u{10ffff}', { version: { vector: { [bee]: 1 } } }),
    ];

    test('gives back every field of every kind', () => {
      expect(journal.append(kinds)).toEqual(kinds);
      expect(journal.operationsOf(ant, 0, 100)).toStrictEqual(kinds);
      for (const operation of kinds) expect(journal.operation(operation)).toStrictEqual(operation);
      for (const operation of kinds) expect(journal.heads(operation.path)).toStrictEqual([operation]);
    });

    test('skips what it knows, also within one call', () => {
      const [first, second] = [put(ant, 1, 'a'), put(ant, 2, 'b')];
      expect(journal.append([first, second, first])).toEqual([first, second]);
      expect(journal.append([second, put(ant, 3, 'c'), first])).toEqual([put(ant, 3, 'c')]);
      expect(journal.known()).toEqual({ [ant]: 3 });
      expect(journal.counts().operations).toBe(3);
    });

    test.each([
      ['from the start', [put(bee, 2, 'x')]],
      ['after what is known', [put(ant, 3, 'x')]],
      ['within the call', [put(ant, 2, 'x'), put(ant, 4, 'y')]],
    ])('refuses a gap %s and takes nothing', (_, operations) => {
      journal.append([put(ant, 1, 'a')]);
      const digest = journal.digest();
      expect(() => journal.append(operations)).toThrow('numbers are missing');
      expect(journal.known()).toEqual({ [ant]: 1 });
      expect([journal.digest(), journal.heads('x')]).toEqual([digest, []]);
    });

    test('knows nothing of an origin that is only mentioned', () => {
      journal.append([put(ant, 1, 'a', { version: after(dot(ant, 1), dot(bee, 9)) })]);
      expect(journal.known()).toEqual({ [ant]: 1 });
      expect(journal.applied().vector).toEqual({});
      expect([journal.operation(dot(bee, 9)), journal.operation(dot(cat, 1))]).toEqual([undefined, undefined]);
    });

    test('says what lies beyond a vector, origin by origin in seq order', () => {
      const ofAnt = [1, 2, 3, 4, 5].map((seq) => put(ant, seq, `a${seq}`));
      const ofBee = [1, 2].map((seq) => put(bee, seq, `b${seq}`));
      journal.append([...ofAnt.slice(0, 2), ...ofBee, ...ofAnt.slice(2)]);
      expect(journal.operationsOf(ant, 1, 2)).toEqual(ofAnt.slice(1, 3));
      expect([...journal.operationsBeyond({}, 2)]).toEqual([
        ofAnt.slice(0, 2),
        ofAnt.slice(2, 4),
        ofAnt.slice(4),
        ofBee,
      ]);
      expect([...journal.operationsBeyond({ [ant]: 4, [bee]: 9, [cat]: 1 }, 2)]).toEqual([ofAnt.slice(4)]);
    });

    test('can be read in both directions, as a whole and for one path', () => {
      const operations = [put(bee, 1, 'x'), put(ant, 1, 'y'), put(bee, 2, 'x'), put(ant, 2, 'x')];
      journal.append(operations.slice(0, 2));
      journal.append(operations.slice(2));
      const rows = operations.map((operation, index) => ({ row: index + 1, operation, journaledAt }));
      expect(journal.log({ limit: 9 })).toEqual(rows);
      expect(journal.log({ afterRow: 1, limit: 2 })).toEqual(rows.slice(1, 3));
      expect(journal.log({ beforeRow: 4, limit: 2 }).map(({ row }) => row)).toEqual([3, 2]);
      expect(journal.log({ path: 'x', limit: 9 }).map(({ row }) => row)).toEqual([1, 3, 4]);
      expect(journal.log({ path: 'x', beforeRow: 4, limit: 1 }).map(({ row }) => row)).toEqual([3]);
      expect(journal.log({ path: 'x', afterRow: 1, beforeRow: 4, limit: 9 }).map(({ row }) => row)).toEqual([3]);
      expect(journal.log({ path: 'z', limit: 9 })).toEqual([]);
    });

    test('remembers every content of a path', () => {
      journal.append([put(ant, 1, 'x'), put(ant, 2, 'x'), remove(ant, 3, 'x'), put(ant, 4, 'y')]);
      const contents = [1, 2, 3, 4].map((seq) => journal.everHad('x', content(seq)));
      expect(contents).toEqual([true, true, false, false]);
    });
  });

  describe('heads', () => {
    const [mine, yours] = [put(ant, 1, 'x'), put(bee, 1, 'x', { content: content(2), hlc: 1 })];

    test('an operation replaces what it knew of; concurrent ones stay, the visible one first', () => {
      journal.append([yours, mine]);
      expect(journal.heads('x')).toEqual([mine, yours]);
      expect(journal.contested(undefined, 9)).toEqual([{ path: 'x', heads: [mine, yours] }]);
      expect(journal.counts()).toMatchObject({ files: 1, bytes: 10, contested: 1, operations: 2 });
      const joined = put(cat, 1, 'x', { version: after(dot(cat, 1), mine, yours) });
      journal.append([joined]);
      expect(journal.heads('x')).toEqual([joined]);
      expect(journal.counts()).toMatchObject({ files: 1, contested: 0 });
    });

    test('one that is superseded already is only logged', () => {
      const later = put(bee, 1, 'x', { version: after(dot(bee, 1), mine) });
      journal.append([later]);
      const digest = journal.digest();
      journal.append([mine]);
      expect([journal.heads('x'), journal.digest()]).toEqual([[later], digest]);
      expect(journal.operation(mine)).toEqual(mine);
    });

    test('contested paths and members page by path', () => {
      const record: MemberRecord = { id: beeMember, name: 'bee', addresses: [], standing: 'joined' };
      journal.append(['p', 'q', 'r'].map((path, index) => put(ant, index + 1, path)));
      journal.append(['p', 'q', 'r'].map((path, index) => put(bee, index + 1, path)));
      journal.append([memberOperation(bee, 4, record)]);
      expect(pathsOf(journal.contested(undefined, 2))).toEqual(['p', 'q']);
      expect(pathsOf(journal.contested('q', 2))).toEqual(['r']);
      journal.append([memberOperation(ant, 4, { ...record, id: antMember, name: 'ant', standing: 'left' })]);
      expect(journal.members().map(({ name }) => name)).toEqual(['ant', 'bee']);
      expect(journal.counts()).toMatchObject({ files: 3, directories: 0 });
    });

    test('those under a prefix do not include its neighbours', () => {
      const paths = ['a', 'a-b', 'a.b', 'a/b', 'a/b/c', 'a/🐜', 'a0', 'b'];
      journal.append(paths.map((path, index) => put(ant, index + 1, path)));
      const under = (prefix: string, from: string | undefined, limit: number) =>
        pathsOf(journal.headsUnder(prefix, from, limit));
      expect(under('', undefined, 99)).toEqual(paths);
      expect(under('', 'a.b', 2)).toEqual(['a/b', 'a/b/c']);
      expect(under('a', undefined, 99)).toEqual(['a', 'a/b', 'a/b/c', 'a/🐜']);
      expect(under('a', undefined, 1)).toEqual(['a']);
      expect(under('a', 'a', 1)).toEqual(['a/b']);
      expect(under('a', 'a/b', 99)).toEqual(['a/b/c', 'a/🐜']);
      expect(under('c', undefined, 99)).toEqual([]);
    });

    test('a content is found as long as a head carries it', () => {
      journal.append([mine, yours]);
      expect(journal.headWithContent(content(2))).toEqual(yours);
      journal.append([put(ant, 2, 'x', { version: after(dot(ant, 2), mine, yours), content: content(7) })]);
      expect(journal.headWithContent(content(2))).toBeUndefined();
      expect(journal.headWithContent(content(7))?.seq).toBe(2);
      const sameEnd = `b3:1${content(7).slice(4)}` as typeof mine.content;
      expect(sameEnd && journal.headWithContent(sameEnd)).toBeUndefined();
    });
  });

  describe('parents', () => {
    const orphans = () => pathsOf(journal.orphans(undefined, 99));

    test('a directory deleted while something live lies in it leaves orphans, until it stands again', () => {
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
      expect(pathsOf(journal.orphans('d/e', 1))).toEqual(['d/x']);
      journal.append([remove(ant, 7, 'd/x'), remove(ant, 8, 'd/e')]);
      expect(orphans()).toEqual(['d/e/y']);
      expect(journal.hasLiveBelow('d')).toBe(true);
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

    test('something live below is found at any depth', () => {
      journal.append([put(ant, 1, 'a/b/c/d'), put(ant, 2, 'a/b-'), put(ant, 3, 'e')]);
      const below = ['', 'a', 'a/b', 'a/b/c', 'a/b/c/d', 'a/b-', 'e'].map((path) => journal.hasLiveBelow(path));
      expect(below).toEqual([true, true, true, true, false, false, false]);
      journal.append([remove(ant, 4, 'a/b/c/d')]);
      expect(['a', 'a/b', 'a/b/c'].map((path) => journal.hasLiveBelow(path))).toEqual([true, false, false]);
      journal.append([remove(ant, 5, 'a/b-'), remove(ant, 6, 'e')]);
      expect(['', 'a'].map((path) => journal.hasLiveBelow(path))).toEqual([false, false]);
    });
  });

  describe('pending', () => {
    const live = (from?: string, limit = 99) => pathsOf(journal.pending({ which: 'live', after: from, limit }));
    const deletes = (from?: string, limit = 99) => pathsOf(journal.pending({ which: 'delete', after: from, limit }));
    const first = put(ant, 1, 'x');
    const edit = put(ant, 2, 'x');
    const gone = remove(ant, 2, 'x');
    const sibling = put(bee, 1, 'x', { hlc: 1 });

    const member = memberOperation(ant, 1, { id: antMember, name: 'a', addresses: [], standing: 'joined' });

    /** A step is an operation to append, or what is written into the row of `disk`. */
    type Step = Operation | { readonly shown: Operation } | { readonly absent: Operation } | 'forgotten';
    const take = (step: Step): void => {
      if (step === 'forgotten') journal.recordDisk([{ path: 'x', entry: undefined }]);
      else if ('shown' in step) show(journal, step.shown);
      else if ('absent' in step) journal.recordDisk([{ path: 'x', entry: { dot: step.absent } }]);
      else journal.append([step]);
    };

    test.each<{ name: string; steps: readonly Step[]; live?: boolean; delete?: boolean }>([
      { name: 'an entry that the disk does not have', steps: [first], live: true },
      { name: 'the disk shows it', steps: [first, { shown: first }] },
      { name: 'the disk showed it before it was known', steps: [{ shown: first }, first] },
      { name: 'the disk shows an older one', steps: [first, edit, { shown: first }], live: true },
      { name: 'a delete of what never was here', steps: [first, gone] },
      { name: 'a delete of what is here', steps: [first, { shown: first }, gone], delete: true },
      { name: 'a delete that the disk shows', steps: [first, gone, { shown: first }, { shown: gone }] },
      { name: 'a delete of what is absent under an older operation', steps: [first, gone, { absent: first }] },
      { name: 'an entry that counts as shown though absent (ignored here)', steps: [first, { absent: first }] },
      { name: 'the row of disk was taken away', steps: [first, { shown: first }, 'forgotten'], live: true },
      { name: 'a sibling that lost', steps: [first, { shown: first }, sibling] },
      { name: 'a sibling that won', steps: [sibling, { shown: sibling }, first], live: true },
      { name: 'a row of disk without any operation', steps: [{ shown: first }] },
      { name: 'an entry of the member list', steps: [member] },
    ])('$name', ({ steps, live: isLive = false, delete: isDelete = false }) => {
      for (const step of steps) take(step);
      expect([live(), deletes()]).toEqual([isLive ? ['x'] : [], isDelete ? ['x'] : []]);
      expect(journal.counts().pending).toBe(Number(isLive) + Number(isDelete));
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

    test('come with all heads and the row of disk', () => {
      journal.append([sibling]);
      show(journal, sibling);
      journal.append([first]);
      const disk = { path: 'x', dot: dot(bee, 1), content: content(1), fingerprint: fingerprint(1) };
      expect(journal.pending({ which: 'live', limit: 9 })).toEqual([{ path: 'x', heads: [first, sibling], disk }]);
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
    ])('the disk shows $name', ({ shown, upTo, ranges }) => {
      const operations = numbered(bee, 6);
      journal.append(operations);
      show(journal, ...operations.filter(({ seq }) => shown.includes(seq)));
      expect(journal.applied()).toEqual({
        vector: upTo === undefined ? {} : { [bee]: upTo },
        ranges: ranges === undefined ? {} : { [bee]: ranges },
      });
    });

    test('one that is superseded is applied with the one that superseded it, or before', () => {
      journal.append([put(bee, 1, 'x'), put(bee, 2, 'x')]);
      expect(journal.applied()).toEqual({ vector: { [bee]: 1 }, ranges: {} });
    });

    test('a live sibling that lost is not applied until something supersedes it; a delete that lost is', () => {
      const operations = [put(ant, 1, 'x'), put(bee, 1, 'x', { hlc: 1 }), remove(cat, 1, 'x'), put(bee, 2, 'y')];
      journal.append(operations);
      show(journal, put(ant, 1, 'x'), put(bee, 2, 'y'));
      expect(journal.applied()).toEqual({ vector: { [ant]: 1, [cat]: 1 }, ranges: { [bee]: [[2, 2]] } });
      const joined = put(ant, 2, 'x', { version: after(dot(ant, 2), dot(bee, 1), dot(cat, 1)) });
      journal.append([joined]);
      show(journal, joined);
      expect(journal.applied()).toEqual({ vector: { [ant]: 2, [bee]: 2, [cat]: 1 }, ranges: {} });
    });

    test('entries of the member list are applied once they are known, contested ones too', () => {
      const record: MemberRecord = { id: beeMember, name: 'bee', addresses: [], standing: 'joined' };
      journal.append([memberOperation(bee, 1, record), memberOperation(cat, 1, { ...record, name: 'bea' })]);
      expect(journal.counts()).toMatchObject({ contested: 1, pending: 0 });
      expect(journal.applied()).toEqual({ vector: { [bee]: 1, [cat]: 1 }, ranges: {} });
    });

    test('the ranges are bounded, and the last one is always among them', () => {
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

    test('a throw takes back everything, and the journal goes on', () => {
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

    test('nested ones join the outer one, and a throw out of one cannot be half kept', () => {
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

  describe('what is kept beside', () => {
    test('acknowledgements', () => {
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

    test('a new journal has an origin of its member and nothing else', () => {
      expect(journal.origin).toBe(ant);
      expect(journal.counts()).toEqual({ files: 0, directories: 0, bytes: 0, operations: 0, pending: 0, contested: 0 });
      expect([journal.digest(), journal.known(), journal.applied()]).toEqual([
        '0'.repeat(16),
        {},
        { vector: {}, ranges: {} },
      ]);
      expect(journal.verifyHeads(true)).toEqual({ compared: 0, differing: [] });
    });
  });
}
