import type { Operation, OriginId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { conflictPath } from '../../core/conflict-name.ts';
import { type Content, contentOfText } from '../../sim/disk/content.ts';
import type { Disk } from '../../sim/disk/disk.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { detectChanges } from './change-detector.ts';

const name = 'original';
const copy = conflictPath(name, 1_024, 'ant');
const kinds = ['file', 'link'] as const;

/** Puts a file or a link at the path. An existing file is overwritten, an existing link is replaced. */
function make(disk: Disk, path: string, kind: (typeof kinds)[number], text: string): void {
  if (kind === 'file') disk.write(path, contentOfText(text));
  else {
    if (disk.at(path) !== undefined) disk.unlink(path);
    disk.symlink(path, text);
  }
}

/** A member whose `original` lost and has a conflict copy. The version of bee that replaces it has not been applied yet. */
async function lostHere(
  kind: (typeof kinds)[number],
  more: { readonly onDemand?: boolean; readonly holdsDeletes?: boolean } = {},
) {
  const member = new LoneMember(undefined, more);
  const { disk } = member.volume;
  const { journal, context } = member;
  const detected = async (...paths: readonly string[]): Promise<void> => {
    const missingSinceMs = more.holdsDeletes === false ? 0 : undefined;
    const batch = paths.map((path) => ({ path, firstMs: 0, lastMs: 0, dueMs: 0, missingSinceMs }));
    const done = context.lock.run(() =>
      detectChanges(context, member.operationWriter, {
        batch,
        read: new Map(),
        scannedUpToMs: Number.MAX_SAFE_INTEGER,
      }),
    );
    await member.passes(1_000);
    await done;
  };
  for (const path of [name, copy]) make(disk, path, kind, 'lost');
  await detected(name, copy);
  const [shown] = journal.heads.at(name) as [Operation];
  member.received(
    member.operation(name, { kind: 'put', text: 'by bee' }, { origin: 'bee' as OriginId, parents: [shown] }),
  );
  await member.passes(1_000);
  const isVersion = (): boolean =>
    journal.heads.at(name).some((head) => head.content === shown.content && head.target === shown.target);
  expect(isVersion()).toBe(false);
  return { member, disk, detected, isVersion };
}

describe.each(kinds)('[CF12] a %s that lost is a version of its own', (kind) => {
  // The simulator's seed 22716.
  test.each([
    { what: 'once it was moved out and back, and its copy has other content', hasOther: true },
    { what: 'but not while its copy is whole', hasOther: false },
  ])('$what', async ({ hasOther }) => {
    const { member, disk, detected, isVersion } = await lostHere(kind);
    disk.rename(name, '/elsewhere/taken');
    if (hasOther) make(disk, copy, kind, 'other');
    await member.passes(1);
    disk.rename('/elsewhere/taken', name);
    await detected(name);
    expect(isVersion()).toBe(hasOther);
  });

  test('once it was exchanged with its copy, which was found first', async () => {
    const { disk, detected, isVersion } = await lostHere(kind);
    make(disk, name, kind, 'edited');
    disk.rename(name, 'swap');
    disk.rename(copy, name);
    disk.rename('swap', copy);
    await detected(copy);
    await detected(name);
    expect(isVersion()).toBe(true);
  });

  test('once it was exchanged with its copy, and found first', async () => {
    const { disk, detected, isVersion } = await lostHere(kind);
    make(disk, name, kind, 'edited');
    disk.rename(name, 'swap');
    disk.rename(copy, name);
    disk.rename('swap', copy);
    await detected(name);
    await detected(copy);
    expect(isVersion()).toBe(true);
  });

  // The simulator's seed 134464: the file was deleted and written again with the same bytes, and the copy's delete was journaled last.
  test('if it was written again after its copy was deleted, and before that was found', async () => {
    const { member, disk, detected } = await lostHere(kind, { holdsDeletes: false });
    for (const path of [copy, name]) disk.unlink(path);
    await member.passes(5_000);
    make(disk, name, kind, 'lost');
    await detected(name);
    await detected(copy);
    const { operation: last } = member.journal.log.rows({ beforeRow: Number.MAX_SAFE_INTEGER, limit: 1 })[0] ?? {};
    expect([last?.path, last?.kind]).toEqual([name, kind === 'file' ? 'put' : 'symlink']);
  });

  test('once its copy was deleted, and it was touched', async () => {
    const { disk, detected, isVersion } = await lostHere(kind);
    disk.unlink(copy);
    await detected(copy);
    disk.rename(name, '/elsewhere/taken');
    disk.rename('/elsewhere/taken', name);
    await detected(name);
    expect(isVersion()).toBe(true);
  });
});

// The simulator's seed 117955: the delete counted as a removal by the agent, and the file as the old version of bee's.
test('[OD3] a file that lost is a version of its own on demand, once it was deleted and another one with its content is put back', async () => {
  const { member, disk, detected, isVersion } = await lostHere('file', { onDemand: true, holdsDeletes: false });
  const { content, mtimeMs } = disk.at(name) as { content: Content; mtimeMs: number };
  member.volume.keep(content);
  disk.write('/elsewhere/taken', content);
  disk.utimes('/elsewhere/taken', mtimeMs);
  for (const path of [copy, name]) disk.unlink(path);
  await detected(copy, name);
  expect(member.journal.log.rows({ path: name, beforeRow: Number.MAX_SAFE_INTEGER, limit: 1 })).toMatchObject([
    { operation: { kind: 'delete' } },
  ]);
  disk.rename('/elsewhere/taken', name);
  await detected(name);
  expect(isVersion()).toBe(true);
});
