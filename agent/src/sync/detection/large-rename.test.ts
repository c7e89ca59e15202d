import type { Operation, OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { ApplyLoop } from '../apply/apply-loop.ts';
import { RenameGate } from '../apply/rename-gate.ts';
import { LocalChanges } from '../local/local-changes.ts';

const never = new Promise<void>(() => undefined);
const names = ['a', 'b', 'c', 'sub/d', 'sub/e', 'sub/f', 'sub/g'];
const transactionRows = 3;

/** A member with a directory of more entries than it journals at once. */
async function withDirectory(options: { readonly onDemand?: boolean } = {}) {
  const member = new LoneMember(undefined, { ...options, transactionRows });
  const { disk } = member.volume;
  disk.mkdir('old');
  disk.mkdir('old/sub');
  for (const name of names) disk.write(`old/${name}`, contentOfText(name));
  const start = async () => {
    const changes = new LocalChanges(member.context, member.operationWriter);
    const started = changes.start();
    await member.passes(10_000);
    await started;
    return changes;
  };
  return { member, disk, start, changes: await start() };
}

/** The paths at which the newest version is an entry, and those at which it is a delete. */
function pathsOf({ journal }: LoneMember): { readonly live: readonly string[]; readonly deleted: readonly string[] } {
  const heads = journal.heads.under('', undefined, 99).filter(({ path }) => /^(old|new)/.test(path));
  const paths = (isDelete: boolean) =>
    heads.filter(({ kind }) => (kind === 'delete') === isDelete).map(({ path }) => path);
  return { live: paths(false), deleted: paths(true) };
}

const all = (directory: string): readonly string[] =>
  [directory, ...['sub', ...names].map((name) => `${directory}/${name}`)].sort();

test('[LC44] a large directory that is renamed is journaled in parts, between which other tasks run', async () => {
  const { member, disk } = await withDirectory();
  const made: Operation[][] = [];
  let turns = 0;
  member.context.facts.made.on((operations) => {
    if (operations.length === 0) return;
    made.push([...operations]);
    member.context.clock.after(0, () => void turns++);
  });
  disk.rename('old', 'new');
  await member.passes(10_000);
  const operations = made.flat();
  // The halves of the rename of one file stay together.
  expect(Math.max(...made.map(({ length }) => length))).toBe(transactionRows + 1);
  expect(turns).toBe(made.length);
  expect(pathsOf(member)).toEqual({ live: all('new'), deleted: all('old') });
  // One group, so that the others wait for all of it.
  const [first] = operations;
  expect(first).toMatchObject({ path: 'new', from: 'old', span: operations.length });
  expect(new Set(operations.map(({ group }) => group))).toEqual(new Set([first?.seq]));
});

test('[LC44] an agent that is killed in the middle leaves each file at one name, and the next start renames the rest', async () => {
  const { member, disk, changes, start } = await withDirectory();
  const { context, journal } = member;
  let parts = 0;
  const killed = new Error('killed');
  context.facts.made.on(({ length }) => {
    if (length > 0 && ++parts === 3) throw killed;
  });
  disk.rename('old', 'new');
  await member.passes(100);
  changes.stop();
  expect(parts).toBe(3);
  const between = pathsOf(member);
  const isLive = (path: string): boolean => between.live.includes(path);
  for (const name of names) expect(isLive(`old/${name}`) !== isLive(`new/${name}`), name).toBe(true);
  expect(isLive('old/sub/g')).toBe(true);
  await start();
  expect(pathsOf(member)).toEqual({ live: all('new'), deleted: all('old') });
  expect(journal.heads.at('new/sub/g')).toMatchObject([{ kind: 'put', from: 'old/sub/g' }]);
});

test('[LC44] [OD7] files that are only known here are each at one name as well', async () => {
  const { member, disk, changes } = await withDirectory({ onDemand: true });
  const { context, journal } = member;
  const origin = 'bee' as OriginId;
  const remote = ['r', 's', 't', 'u'].map((name) => {
    const operation = member.operation(`old/${name}`, { kind: 'put', text: name }, { origin });
    member.received(operation);
    return operation;
  });
  const applyLoop = new ApplyLoop(context, member.transfers, new RenameGate(journal, context.clock, () => []));
  applyLoop.poke();
  await member.passes(10_000);
  expect(remote.every(({ path }) => journal.disk.at(path)?.remote)).toBe(true);
  disk.rename('old', 'new');
  const settled = changes.settleAll('', never);
  await member.passes(10_000);
  await settled;
  for (const { path, content } of remote) {
    const [renamed] = journal.heads.at(path.replace('old', 'new'));
    expect(renamed).toMatchObject({ kind: 'put', from: path, content });
    const [gone] = journal.heads.at(path);
    expect(gone?.kind).toBe('delete');
    expect((gone?.seq ?? 0) - (renamed?.seq ?? 0), path).toBe(1);
  }
});

test('[MT46] the rows of a large directory that others renamed are recorded in parts', async () => {
  const { member, disk } = await withDirectory();
  const { context, journal } = member;
  const heads = new Map(all('old').map((path) => [path, journal.heads.at(path)]));
  const origin = 'bee' as OriginId;
  const renamed = all('old').map((path) => {
    const [head] = heads.get(path) ?? [];
    const target = path.replace('old', 'new');
    const operation = member.operation(target, { kind: head?.kind ?? 'put' }, { origin });
    const { content, size, mode, mtimeUs } = head ?? {};
    return { ...operation, ...(content && { content, size, mtimeUs }), mode, from: path };
  });
  const deleted = all('old').map((path) =>
    member.operation(path, { kind: 'delete' }, { origin, parents: heads.get(path) ?? [] }),
  );
  const span = renamed.length + deleted.length;
  const group = renamed[0]?.seq;
  member.received(
    ...[...renamed, ...deleted].map(
      (operation, index) => ({ ...operation, group, ...(index === 0 && { span }) }) as Operation,
    ),
  );
  member.wrote.length = 0;
  const applyLoop = new ApplyLoop(context, member.transfers, new RenameGate(journal, context.clock, () => []));
  applyLoop.poke();
  await member.passes(100);
  expect(disk.at('new/sub/g')).toMatchObject({ type: 'file' });
  expect(disk.at('old')).toBeUndefined();
  expect(all('new').filter((path) => journal.disk.at(path)?.fingerprint === undefined)).toEqual([]);
  expect(member.wrote.filter((call) => call === 'disk.record').length).toBeGreaterThan(5);
  expect(journal.totals.counts().pending).toBe(0);
});
