import type { PathReport, PathVersion, Status, TreeEntry, TreePage, VersionsPage } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import {
  deedOf,
  extendListing,
  initialsOf,
  isOrWasDirectory,
  nameOf,
  parentOf,
  placesOf,
  rowsOf,
  shownEntries,
  shownVersions,
  trailOf,
  treeTrigger,
  typeOf,
} from './listing.ts';

const operation = {
  row: 1,
  journaledAt: 1,
  origin: 'o',
  seq: 1,
  member: 'm',
  memberName: 'ant',
  at: 1,
  hlc: 1024,
  kind: 'put' as const,
  path: 'a',
};

function page(names: readonly string[], total: number, next: string | null): TreePage {
  const entries = names.map((name) => ({ name, path: `d/${name}` }) as TreeEntry);
  return { path: 'd', entries, total, next, members: 3 };
}

test('[DB-F1] a listing grows page by page, and reserves rows for unread entries', () => {
  const first = extendListing(undefined, page(['a', 'b'], 5, 'b'));
  expect(rowsOf(first)).toBe(5);
  const second = extendListing(first, page(['c', 'd'], 4, 'd'));
  expect(second.entries.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
  expect(rowsOf(second)).toBe(5);
  expect(rowsOf(extendListing(second, page([], 4, null)))).toBe(4);
});

test('[DB-F1] a listing is read again when an entry or a holder may have changed', () => {
  const status = { operations: 7, pending: 0, members: [{ state: 'active', behind: 0 }] } as unknown as Status;
  expect(treeTrigger({ ...status, now: 9 })).toBe(treeTrigger(status));
  expect(treeTrigger({ ...status, operations: 8 })).not.toBe(treeTrigger(status));
  const down = [{ ...status.members[0], state: 'down' }] as Status['members'];
  expect(treeTrigger({ ...status, members: down })).not.toBe(treeTrigger(status));
});

test('the parts of a path', () => {
  expect(trailOf('')).toEqual([]);
  expect(trailOf('a/b c')).toEqual([
    { name: 'a', path: 'a' },
    { name: 'b c', path: 'a/b c' },
  ]);
  expect([parentOf(''), parentOf('a'), parentOf('a/b')]).toEqual(['', '', 'a']);
  expect([nameOf('a'), nameOf('a/b')]).toEqual(['a', 'b']);
});

test('the type of the entry at a path, and what an operation did', () => {
  expect(typeOf({ ...operation, kind: 'attr' })).toBe('directory');
  expect(typeOf({ ...operation, kind: 'attr', content: 'b3:0' })).toBe('file');
  expect(typeOf({ ...operation, kind: 'delete' })).toBe('absent');
  expect(deedOf(operation)).toBe('Written');
  expect(deedOf({ ...operation, replaced: 'b3:0' })).toBe('Changed');
  expect(deedOf({ ...operation, from: 'b' })).toBe('Renamed');
});

test('initials', () => {
  expect(['ant', 'build-server', 'Ärzte Haus 2', '🐜', ''].map(initialsOf)).toEqual(['A', 'BS', 'Ä2', '🐜', '']);
});

test('[DB-F1] directories come first, unless the listing has more than one page', () => {
  const entries = ['a', 'b', 'c', 'd'].map(
    (name) => ({ name, type: name === 'b' || name === 'd' ? 'directory' : 'file' }) as TreeEntry,
  );
  const names = (total: number) => shownEntries({ entries, total, next: null }).map(({ name }) => name);
  expect(names(4)).toEqual(['b', 'd', 'a', 'c']);
  expect(names(1_001)).toEqual(['a', 'b', 'c', 'd']);
});

test.each([
  [
    { place: 'folder', isCurrent: true, members: ['bee', 'cat'] },
    'Current version. In the folder of ant, and on bee and cat',
  ],
  [{ place: 'history', isCurrent: false, members: [] }, 'In the history of ant'],
  [{ place: null, isCurrent: false, members: ['bee'] }, 'On bee'],
  [{ place: null, isCurrent: false, members: [] }, 'No member that is up has it any more'],
  [{ place: null, isCurrent: false, members: [], size: 0 }, ''],
] as const)('[DB-F9] where a version can be had: %j', ({ members, ...rest }, sentence) => {
  const holders = members.map((name) => ({ member: name, name }));
  const version = { type: 'file', content: 'b3:', members: holders, ...rest } as unknown as PathVersion;
  expect(placesOf(version, 'ant')).toBe(sentence);
});

test('[DB-F9] versions that are newer than the answer about them come first, and the last one is not called the current', () => {
  const [first, second, deleted] = [1, 2, 3].map((row) => ({
    ...operation,
    row,
    seq: row,
    kind: row === 3 ? 'delete' : 'put',
  }));
  const version = (logged: typeof first, isCurrent: boolean) => ({ ...logged, version: `o:${logged?.seq}`, isCurrent });
  const page = { path: 'a', versions: [version(second, true), version(first, false)] } as unknown as VersionsPage;
  const report = { path: 'a', heads: [deleted], log: [deleted, second, first] } as unknown as PathReport;
  expect(shownVersions(report, page)).toEqual([deleted, second, version(first, false)]);
  expect(shownVersions({ ...report, heads: [second], log: [second, first] } as unknown as PathReport, page)).toEqual(
    page.versions,
  );
  expect(shownVersions(report, undefined)).toBe(report.log);
  expect(shownVersions(report, { ...page, path: 'b' })).toBe(report.log);
});

test('[DB-F10] a deleted directory is listed as one only with what was deleted', () => {
  const [deleted, made] = [
    { ...operation, kind: 'delete' },
    { ...operation, kind: 'mkdir' },
  ];
  const report = { heads: [deleted], log: [deleted, made] } as unknown as PathReport;
  expect([isOrWasDirectory(report, false), isOrWasDirectory(report, true)]).toEqual([false, true]);
  expect(isOrWasDirectory({ ...report, log: [deleted, operation] } as unknown as PathReport, true)).toBe(false);
  expect(isOrWasDirectory({ heads: [made], log: [made] } as unknown as PathReport, false)).toBe(true);
  expect(isOrWasDirectory({ heads: [], log: [] } as unknown as PathReport, true)).toBe(false);
});
