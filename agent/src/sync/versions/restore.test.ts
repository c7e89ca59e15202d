import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { stateRoot } from '../../sim/folder/call-gate.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { LocalChanges } from '../local/local-changes.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';
import { OldVersions } from './old-versions.ts';
import { put, restoreVersions } from './restore.ts';
import { undoSettlement } from './undo-settlement.ts';

test('[MT21] a file that could not be replaced by an old version has its new change time in its row', async () => {
  const member = new LoneMember();
  const { context, volume, operationWriter } = member;
  const { folder, journal } = context;
  const changes = new LocalChanges(context, operationWriter, { rescanIntervalMs: 600_000 });
  volume.disk.write('file', contentOfText('what was written'));
  const started = changes.start();
  await member.passes(2_000);
  await started;
  const before = journal.disk.at('file')?.fingerprint;
  const [operation] = journal.heads.at('file');
  if (before === undefined || operation === undefined) throw new Error('the file was not journaled');

  folder.apply = async (requests) => {
    // As a replacement that fails after it gave the file its second name.
    volume.disk.link('file', `${stateRoot}/staging/held`);
    volume.disk.unlink(`${stateRoot}/staging/held`);
    const [seen] = await folder.observe([{ path: 'file' }]);
    if (seen?.state !== 'file') throw new Error('the file is missing');
    const released = { before, after: seen.fingerprint };
    return requests.map(() => ({ result: 'problem', code: 'path-in-the-way', detail: 'refused', released }));
  };
  const version = member.operation('file', { kind: 'put', text: 'an old version' });
  const putting = put(context, { path: 'file', version, source: { from: 'history' } }, async () => ({
    fingerprint: before,
    operation,
  }));
  await member.passes(1_000);
  expect((await putting).restoration).toEqual({ done: false, reason: 'refused' });
  expect(journal.disk.at('file')?.fingerprint?.ctimeMs).toBeGreaterThan(before.ctimeMs);
});

/** Parts whose contents are all here. */
function partsOf({ context }: LoneMember) {
  return {
    context,
    oldVersions: new OldVersions(context, {} as ContentFetcher),
    localChanges: { settleAll: async () => ({ unsettled: [] }), mark: () => undefined },
    pause: { isOn: false },
  };
}

test('[CL31] entries of a directory that cannot be put back do not keep later ones from it', async () => {
  const member = new LoneMember();
  const { volume } = member;
  volume.disk.write('d', contentOfText('a file where the directory was'));
  async function* versions() {
    for (const path of ['d/1', 'd/2', 'd/3', 'e1', 'e2', 'e3']) yield member.operation(path, { kind: 'mkdir' });
  }
  const restoring = restoreVersions(partsOf(member), '', versions(), 2);
  await member.passes(1_000);
  const { refused, ...rest } = await restoring;
  expect(rest).toEqual({ entries: 2, refusedCount: 3, more: true });
  expect(refused.map(({ path }) => path)).toEqual(['d/1', 'd/2', 'd/3']);
  expect(['e1', 'e2', 'e3'].map((path) => volume.disk.at(path) !== undefined)).toEqual([true, true, false]);
});

test('[CL31] files of one directory are put back together', async () => {
  const member = new LoneMember();
  const { folder } = member.context;
  const files = Array.from({ length: 9 }, (_, index) => `d/${index}`);
  async function* versions() {
    yield member.operation('d', { kind: 'mkdir' });
    for (const path of files) yield member.operation(path, { kind: 'put', text: '' });
  }
  const groups: number[] = [];
  const apply = folder.apply.bind(folder);
  folder.apply = (requests) => {
    groups.push(requests.length);
    return apply(requests);
  };
  const restoring = restoreVersions(partsOf(member), '', versions(), 100);
  await member.passes(1_000);
  expect(await restoring).toEqual({ entries: 10, refused: [], refusedCount: 0, more: false });
  expect(groups).toEqual([1, 9]);
  expect(files.filter((path) => member.volume.disk.at(path) === undefined)).toEqual([]);
});

test('[MT5] the contents of versions that are put back together are held until all of them are', async () => {
  const member = new LoneMember();
  const { folder } = member.context;
  const parts = partsOf(member);
  const paths = ['1', '2', '3'];
  const versions = paths.map((path) => member.operation(path, { kind: 'put', text: `content ${path}` }));
  const contents = versions.flatMap(({ content }) => content ?? []);
  const held: boolean[] = [];
  const noteHeld = (): void => void held.push(...contents.map((content) => parts.oldVersions.isHeld(content)));
  // As if all of them were in history.
  parts.oldVersions.findHere = async () => ({ from: 'history' });
  folder.apply = async (requests) => {
    noteHeld();
    return requests.map(() => ({ result: 'problem', code: 'disk-full', detail: 'refused' }));
  };
  async function* all() {
    yield* versions;
  }
  const restoring = restoreVersions(parts, '', all(), 100);
  await member.passes(1_000);
  expect((await restoring).refusedCount).toBe(3);
  expect(held).toEqual([true, true, true]);
  noteHeld();
  expect(held.slice(3)).toEqual([false, false, false]);
});

test('[MT5] so are those of a settlement that is undone', async () => {
  const member = new LoneMember();
  const parts = partsOf(member);
  const lost = member.operation('copy', { kind: 'put', text: 'the copy' });
  const removal = member.operation('copy', { kind: 'delete' });
  const content = lost.content ?? expect.fail('a file has a content');
  const held: boolean[] = [];
  parts.oldVersions.findHere = async () => {
    held.push(parts.oldVersions.isHeld(content));
    return { from: 'history' };
  };
  const settlement = { how: 'original', lost, by: undefined, before: undefined } as const;
  const undoing = undoSettlement(parts, { copy: 'copy', path: 'file', removal, ...settlement });
  await member.passes(1_000);
  await undoing;
  expect([...held, parts.oldVersions.isHeld(content)]).toEqual([true, false]);
});
