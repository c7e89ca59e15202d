import { type MemberId, memberOf, type Operation, type OriginId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { conflictPath, isConflictPath } from '../../core/conflict-name.ts';
import { remoteEntry } from '../../core/entry.ts';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { lostAfterMs } from '../contents/missing-contents.ts';
import { ConflictResolver } from './resolver.ts';

const bee = 'bee' as OriginId;
const cat = 'cat' as OriginId;

function resolverOf(member: LoneMember, state: 'active' | 'syncing' = 'active'): ConflictResolver {
  const seniority = () => ({ id: member.id, state, enabledAt: 1 });
  return new ConflictResolver(member.context, member, seniority);
}

/** Ant and bee wrote each of these files concurrently, bee later. */
function bothWrote(member: LoneMember, paths: readonly string[]): void {
  const own: Operation[] = [];
  const others: Operation[] = [];
  for (const path of paths) {
    own.push(member.operation(path, { kind: 'put', text: `ant ${path}` }));
    others.push(member.operation(path, { kind: 'put', text: `bee ${path}` }, { origin: bee }));
    member.keeps(`ant ${path}`);
    member.keeps(`bee ${path}`);
  }
  member.received(...own, ...others);
}

const named = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `file-${String(index).padStart(4, '0')}`);

test('[JN2] a thousand conflicts are resolved in a few transactions', async () => {
  const member = new LoneMember();
  const paths = named(1_000);
  bothWrote(member, paths);
  expect(member.journal.totals.counts().contested).toBe(1_000);
  member.wrote.length = 0;
  resolverOf(member).poke();
  await member.passes(60_000);
  expect(member.journal.totals.counts().contested).toBe(0);
  expect(member.wrote.filter((call) => call === 'append').length).toBeLessThan(10);
  const heads = member.journal.heads.under('', undefined, 5_000);
  expect(heads.filter(({ path }) => isConflictPath(path)).length).toBe(1_000);
  expect(heads.length).toBe(2_000);
  expect(member.errors).toEqual([]);
});

test('[JN2] the losing contents of many conflicts are kept by few jobs', async () => {
  let jobs = 0;
  const member = new LoneMember((folder) => {
    const keep = folder.keep.bind(folder);
    folder.keep = (requests) => {
      jobs++;
      return keep(requests);
    };
    return folder;
  });
  bothWrote(member, named(512));
  resolverOf(member).poke();
  await member.passes(60_000);
  expect(member.journal.totals.counts().contested).toBe(0);
  expect(jobs).toBeLessThan(40);
});

test('[MG8] a directory is resurrected also behind hundreds that are left to others', async () => {
  const member = new LoneMember();
  const own: Operation[] = [];
  const others: Operation[] = [];
  const raise = (directory: string, origin: OriginId | undefined): void => {
    const operations = origin === undefined ? own : others;
    const made = member.operation(directory, { kind: 'mkdir' }, { ...(origin && { origin }) });
    operations.push(made);
    operations.push(member.operation(directory, { kind: 'delete' }, { ...(origin && { origin }), parents: [made] }));
    operations.push(member.operation(`${directory}/new`, { kind: 'put', text: 'new' }, { ...(origin && { origin }) }));
  };
  for (const name of named(600)) raise(name, bee);
  raise('last', undefined);
  member.received(...others, ...own);
  // It is not active yet, so that it handles only its own operations.
  resolverOf(member, 'syncing').poke();
  await member.passes(1_000);
  expect(member.journal.heads.at('last')).toMatchObject([{ kind: 'mkdir' }]);
  expect(member.journal.heads.at('file-0000')).toMatchObject([{ kind: 'delete' }]);
});

test('[CF5] a copy that a user renamed back, or wrote again at its original name, is made again when it loses again', async () => {
  const member = new LoneMember();
  const old = member.operation('file.txt', { kind: 'put', text: 'lost' }, { origin: bee });
  const own = member.operation('file.txt', { kind: 'put', text: 'won' });
  member.keeps('lost');
  member.keeps('won');
  member.received(old, own);
  const resolver = resolverOf(member);
  resolver.poke();
  await member.passes(20_000);
  const copies = (): readonly Operation[] =>
    member.journal.heads.under('', undefined, 100).filter(({ path }) => isConflictPath(path));
  const [copy] = copies();
  if (copy === undefined) throw new Error('no copy was made');
  const [joined] = member.journal.heads.at('file.txt');
  if (joined === undefined) throw new Error('nothing was joined');
  // The copy is deleted and its content is at the original name again, while another member writes there.
  const gone = member.operation(copy.path, { kind: 'delete', replaced: 'lost' }, { origin: bee, parents: [copy] });
  const again = member.operation('file.txt', { kind: 'put', text: 'lost' }, { origin: bee, parents: [joined] });
  const newer = member.operation('file.txt', { kind: 'put', text: 'newer' }, { origin: cat, parents: [joined] });
  member.keeps('newer');
  member.received(gone, again, newer);
  expect(copies().filter(({ kind }) => kind !== 'delete')).toEqual([]);
  resolver.poke();
  await member.passes(20_000);
  expect(copies().filter(({ kind }) => kind !== 'delete')).toMatchObject([{ content: again.content }]);
});

test.each([
  { there: 'an empty file that is still to be removed', isThere: true, pending: 1 },
  { there: 'an empty file that a power cut left of it', isThere: true, damaged: true, pending: 1 },
  { there: 'nothing', isThere: false, pending: 0 },
])(
  '[CT14] [CT15] a file with lost content is deleted while at its path there is $there',
  async ({ isThere, damaged, pending }) => {
    const member = new LoneMember();
    const { journal, context } = member;
    const begun = member.operation('file', { kind: 'put', text: '' });
    const lost = member.operation('file', { kind: 'put', text: 'lost' }, { parents: [begun] });
    member.received(begun, lost);
    const fingerprint = { ino: 7, size: 0, mtimeMs: 1, ctimeMs: 1, mode: 0o100644 };
    const { origin, seq, content } = begun;
    const whole = { dot: { origin, seq }, content, fingerprint };
    const torn = { dot: { origin: lost.origin, seq: lost.seq }, fingerprint, damaged: true };
    if (isThere) journal.disk.record([{ path: 'file', entry: damaged ? torn : whole }]);
    for (const nowMs of [0, lostAfterMs]) context.missing.searched(lost, { lacking: [], members: [], nowMs });
    resolverOf(member).poke();
    await member.passes(1_000);
    expect(journal.heads.at('file')).toMatchObject([{ kind: 'delete' }]);
    expect(journal.heads.pending({ which: 'delete', limit: 9 })).toHaveLength(pending);
    expect(member.errors).toEqual([]);
  },
);

test('[CT14] a file on demand is not deleted when its content is lost: a member that left may have it', async () => {
  const member = new LoneMember();
  const { journal, context } = member;
  const lost = member.operation('file', { kind: 'put', text: 'lost' });
  member.received(lost);
  journal.disk.record([remoteEntry('file', lost)]);
  for (const nowMs of [0, lostAfterMs]) context.missing.searched(lost, { lacking: [], members: [], nowMs });
  resolverOf(member).poke();
  await member.passes(1_000);
  expect(journal.heads.at('file')).toMatchObject([{ kind: 'put' }]);
});

test.each([
  { change: 'overwrote', isDeleted: true },
  { change: 'deleted', isDeleted: true },
  { change: 'did not change', isDeleted: false },
])(
  '[CT14] the new name of a file whose content is lost, renamed on demand while a user $change it',
  async ({ change, isDeleted }) => {
    const member = new LoneMember();
    const { journal, context } = member;
    const first = member.operation('old', { kind: 'put', text: 'lost' });
    member.received(first);
    const moved = member.operation('old', { kind: 'delete', replaced: 'lost' }, { origin: cat, parents: [first] });
    const renamed = { ...member.operation('new', { kind: 'put', text: 'lost' }, { origin: cat }), from: 'old' };
    const again = { ...member.operation('newer', { kind: 'put', text: 'lost' }, { origin: cat }), from: 'new' };
    const left = member.operation('new', { kind: 'delete', replaced: 'lost' }, { origin: cat, parents: [renamed] });
    const replaced = { replaced: 'lost' } as const;
    if (change === 'overwrote')
      member.received(member.operation('old', { kind: 'put', text: 'present', ...replaced }, { parents: [first] }));
    if (change === 'deleted')
      member.received(member.operation('old', { kind: 'delete', ...replaced }, { parents: [first] }));
    member.received(moved, renamed, again, left);
    const lacking = [{ member: memberOf(cat), shows: true, named: true }];
    for (const nowMs of [0, lostAfterMs]) context.missing.searched(again, { lacking, members: [memberOf(cat)], nowMs });
    resolverOf(member).poke();
    await member.passes(1_000);
    expect(journal.heads.at('newer')).toMatchObject([{ kind: isDeleted ? 'delete' : 'put' }]);
    expect(member.errors).toEqual([]);
  },
);

test('[CT14] a file is not deleted when its content is lost while a member that left may have it', async () => {
  const member = new LoneMember();
  const { journal, context } = member;
  const lost = member.operation('file', { kind: 'put', text: 'lost' }, { origin: bee });
  member.received(lost);
  const searched = (nowMs: number, left: readonly MemberId[]) =>
    context.missing.searched(lost, { lacking: [], members: [], left, nowMs });
  for (const nowMs of [0, lostAfterMs]) searched(nowMs, [memberOf(bee)]);
  resolverOf(member).poke();
  await member.passes(1_000);
  expect(journal.heads.at('file')).toMatchObject([{ kind: 'put' }]);
  // It takes part again, and lacks it.
  searched(2 * lostAfterMs, []);
  resolverOf(member).poke();
  await member.passes(1_000);
  expect(journal.heads.at('file')).toMatchObject([{ kind: 'delete' }]);
});

test('[CF6] a join makes the copy of a sibling that it ends, also if an equal sibling is left to another member', async () => {
  const member = new LoneMember();
  member.keeps('lost');
  member.keeps('newer');
  const written = member.operation('file.txt', { kind: 'put', text: 'lost' }, { origin: bee });
  const own = member.operation('file.txt', { kind: 'put', text: 'lost' }, { parents: [written] });
  const joined = member.operation('file.txt', { kind: 'put', text: 'lost' }, { origin: cat, parents: [written] });
  const newer = member.operation('file.txt', { kind: 'put', text: 'newer' }, { origin: 'elk' as OriginId });
  member.received(written, own, joined, newer);
  // It is not active yet, so that it joins only its own operations, and leaves the join of cat to cat.
  resolverOf(member, 'syncing').poke();
  await member.passes(1_000);
  expect(member.journal.heads.at('file.txt').some(({ origin }) => origin === cat)).toBe(true);
  expect(member.journal.heads.at('file.txt')).toHaveLength(2);
  const copies = member.journal.heads.under('', undefined, 100).filter(({ path }) => isConflictPath(path));
  expect(copies).toMatchObject([{ content: written.content }]);
});

// The simulator's seed 80145: the user had changed the copy through a mapping, and written the loser again.
test.each([
  { what: 'is whole', shows: 'lost', isHere: true, copies: 1 },
  { what: 'was changed since it was journaled', shows: 'changed', isHere: true, copies: 2 },
  { what: 'was removed since it was journaled', shows: undefined, isHere: true, copies: 2 },
  { what: 'has not arrived here yet', shows: undefined, isHere: false, copies: 1 },
])('[CF2] a loser whose content has a copy that $what', async ({ shows, isHere, copies }) => {
  const member = new LoneMember();
  const { journal, volume } = member;
  for (const text of ['lost', 'newer']) member.keeps(text);
  const copy = member.operation(conflictPath('file', 512, 'ant'), { kind: 'put', text: 'lost' });
  const again = member.operation('file', { kind: 'put', text: 'lost' });
  const newer = member.operation('file', { kind: 'put', text: 'newer' }, { origin: bee });
  member.received(copy, again, newer);
  if (shows !== undefined) volume.disk.write(copy.path, contentOfText(shows));
  const { origin, seq, content } = copy;
  const fingerprint = { ino: 7, size: 4, mtimeMs: 1, ctimeMs: 1, mode: 0o100644 };
  if (isHere) journal.disk.record([{ path: copy.path, entry: { dot: { origin, seq }, content, fingerprint } }]);
  resolverOf(member).poke();
  await member.passes(10_000);
  expect(journal.totals.counts().contested).toBe(0);
  const live = journal.heads.under('', undefined, 100).filter(({ path }) => isConflictPath(path));
  expect(live.map((head) => head.content)).toEqual(new Array(copies).fill(copy.content));
});

/** Ant deletes the visible one of two siblings, the later, during `meanwhile` of bee. Returns the kinds of the heads. */
async function deletedMeanwhile(
  earlier: string,
  meanwhile: (member: LoneMember, siblings: readonly [other: Operation, seen: Operation]) => readonly Operation[],
): Promise<readonly string[]> {
  const member = new LoneMember();
  for (const text of ['visible', 'other', 'edited']) member.keeps(text);
  const other = member.operation('file', { kind: 'put', text: earlier }, { origin: bee });
  const seen = member.operation('file', { kind: 'put', text: 'visible' });
  member.received(other, seen);
  const gone = member.operation('file', { kind: 'delete', replaced: 'visible' }, { parents: [seen] });
  const fromBee = meanwhile(member, [other, seen]);
  member.received(gone, ...fromBee);
  resolverOf(member).poke();
  await member.passes(10_000);
  expect(member.journal.totals.counts().contested).toBe(0);
  return member.journal.heads.at('file').map(({ kind }) => kind);
}

describe('[MG10] a delete concurrent with a join', () => {
  const byBee = { origin: bee };
  type Siblings = readonly [other: Operation, seen: Operation];
  const joinOf = (member: LoneMember, siblings: Siblings): Operation => {
    const [, seen] = siblings;
    const keeps = siblings.filter(({ content }) => content === seen.content);
    return member.operation('file', { kind: 'put', text: 'visible' }, { ...byBee, parents: siblings, keeps });
  };

  test('holds if no user edited', async () => {
    expect(await deletedMeanwhile('other', (member, siblings) => [joinOf(member, siblings)])).toEqual(['delete']);
  });

  test('holds if two members joined, one after the other', async () => {
    const join = (member: LoneMember, siblings: Siblings) => {
      const first = joinOf(member, siblings);
      const byCat = { origin: cat, parents: [first], keeps: [first] };
      return [first, member.operation('file', { kind: 'put', text: 'visible' }, byCat)];
    };
    expect(await deletedMeanwhile('other', join)).toEqual(['delete']);
  });

  test('is undone by an edit of the join', async () => {
    const edit = (member: LoneMember, siblings: Siblings) => {
      const join = joinOf(member, siblings);
      const parents = [join];
      return [
        join,
        member.operation('file', { kind: 'put', text: 'edited', replaced: 'visible' }, { ...byBee, parents }),
      ];
    };
    expect(await deletedMeanwhile('other', edit)).toEqual(['put']);
  });

  test('is undone if the sibling that no user had seen holds the same', async () => {
    expect(await deletedMeanwhile('visible', (member, siblings) => [joinOf(member, siblings)])).toEqual(['put']);
  });

  test('is undone by a change of the mode of the join', async () => {
    const change = (member: LoneMember, siblings: Siblings) => {
      const join = joinOf(member, siblings);
      const made = member.operation(
        'file',
        { kind: 'attr', text: 'visible', replaced: 'visible' },
        { ...byBee, parents: [join], keeps: [join] },
      );
      return [join, { ...made, mode: 0o600 }];
    };
    expect(await deletedMeanwhile('other', change)).toEqual(['put']);
  });

  test('is undone if another member also deleted the file and made it again', async () => {
    const again = (member: LoneMember, siblings: readonly Operation[]) => {
      const gone = member.operation('file', { kind: 'delete', replaced: 'visible' }, { ...byBee, parents: siblings });
      return [gone, member.operation('file', { kind: 'put', text: 'visible' }, { ...byBee, parents: [gone] })];
    };
    expect(await deletedMeanwhile('other', again)).toEqual(['put']);
  });

  test('is undone if it knew a delete after which the entry was made again', async () => {
    const member = new LoneMember();
    for (const text of ['visible', 'other']) member.keeps(text);
    const other = member.operation('file', { kind: 'put', text: 'other' }, { origin: bee });
    const seen = member.operation('file', { kind: 'put', text: 'visible' });
    // Bee moves the file out of the folder, ant deletes what is left at the name, and bee moves it back in.
    const out = member.operation('file', { kind: 'delete', replaced: 'visible' }, { ...byBee, parents: [other, seen] });
    const gone = member.operation('file', { kind: 'delete', replaced: 'other' }, { parents: [out] });
    const back = member.operation('file', { kind: 'put', text: 'visible' }, { ...byBee, parents: [out] });
    member.received(other, seen, out, gone, back);
    resolverOf(member).poke();
    await member.passes(10_000);
    expect(member.journal.heads.at('file')).toMatchObject([{ kind: 'put', content: back.content }]);
  });

  test('is undone by a rename of the same content to the name', async () => {
    const rename = (member: LoneMember, siblings: readonly Operation[]) => {
      const put = member.operation('file', { kind: 'put', text: 'visible' }, { ...byBee, parents: siblings });
      return [{ ...put, from: 'elsewhere' }];
    };
    expect(await deletedMeanwhile('other', rename)).toEqual(['put']);
  });
});

test('[FK9] a join of an operation above a seal is a version of its own: another branch that used the number has not replaced it', async () => {
  const member = new LoneMember();
  const { journal } = member;
  for (const text of ['by ant', 'old branch', 'new branch']) member.keeps(text);
  const before = member.operation('other', { kind: 'delete' }, { origin: bee });
  const own = member.operation('file', { kind: 'put', text: 'by ant' });
  const old = member.operation('file', { kind: 'put', text: 'old branch' }, { origin: bee });
  const copy = member.operation(conflictPath('file', own.hlc, 'ant'), { kind: 'put', text: 'by ant' });
  const join = member.operation('file', { kind: 'put', text: 'old branch' }, { parents: [old, own], keeps: [old] });
  member.received(before, own, old, copy, join);
  // Bee was set back, and wrote the file under a number that it had used before. It journals that again under its next incarnation.
  expect(journal.seal(bee, 1)).toEqual([]);
  const again = member.operation('file', { kind: 'put', text: 'new branch' }, { origin: cat });
  member.received({ ...again, version: { vector: { ...again.version.vector, [bee]: 7 } } });
  resolverOf(member).poke();
  await member.passes(10_000);
  expect(journal.totals.counts().contested).toBe(0);
  expect(journal.heads.at('file')).toMatchObject([{ content: contentOfText('new branch').id }]);
  const copies = journal.heads.under('', undefined, 100).filter(({ path }) => isConflictPath(path));
  expect(copies.map(({ content }) => content).sort()).toEqual(
    ['by ant', 'old branch'].map((text) => contentOfText(text).id).sort(),
  );
});
