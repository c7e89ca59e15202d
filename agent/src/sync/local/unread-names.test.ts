import { unreadHoldMs } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import type { Folder } from '../ports/folder.ts';
import type { Observation, ScannedDirectory } from '../ports/observation.ts';
import { LocalChanges } from './local-changes.ts';

const problem = { code: 'path-io', detail: 'The disk answered EIO.' } as const;

/** A folder whose disk fails at the given entries, so that it cannot be said what they are, and at listings of the given directories. */
function failing(entries: ReadonlySet<string>, listings: ReadonlySet<string>): (folder: Folder) => Folder {
  const observed = (seen: Observation): Observation =>
    entries.has(seen.path) ? { path: seen.path, state: 'problem', ...problem } : seen;
  const listed = (scanned: ScannedDirectory): ScannedDirectory => {
    const { path } = scanned;
    if (listings.has(path)) return { path, entries: [], skipped: [], problem };
    const fails = ({ name }: { readonly name: string }): boolean => entries.has(`${path}/${name}`);
    const unreadable = scanned.entries.filter(fails).map(({ name }) => name);
    return { ...scanned, entries: scanned.entries.filter((entry) => !fails(entry)), unreadable };
  };
  return (folder) =>
    new Proxy(folder, {
      get(target, name) {
        if (name === 'observe') {
          return async (...given: Parameters<Folder['observe']>) => (await target.observe(...given)).map(observed);
        }
        if (name === 'scan') {
          return async function* (...given: Parameters<Folder['scan']>) {
            for await (const chunk of target.scan(...given)) yield chunk.map(listed);
          };
        }
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
}

/** A member that has journaled `docs/file`, `docs/more` and `other`. */
async function withFiles() {
  const [entries, listings] = [new Set<string>(), new Set<string>()];
  const member = new LoneMember(failing(entries, listings));
  const { disk } = member.volume;
  disk.mkdir('docs');
  for (const path of ['docs/file', 'docs/more', 'other']) disk.write(path, contentOfText(path));
  const changes = new LocalChanges(member.context, member.operationWriter);
  const started = changes.start();
  await member.passes(10_000);
  await started;
  const live = (): readonly string[] =>
    member.journal.heads
      .under('', undefined, 10)
      .filter(({ kind }) => kind === 'put')
      .map(({ path }) => path);
  expect(live()).toEqual(['docs/file', 'docs/more', 'other']);
  return { member, disk, entries, listings, live };
}

// The simulator's seed 2001268.
test('[LC14] a delete waits while an entry that may be the missing one cannot be read, and becomes a rename', async () => {
  const { member, disk, entries, live } = await withFiles();
  entries.add('new');
  disk.rename('other', 'new');
  await member.passes(unreadHoldMs / 2);
  expect(live()).toEqual(['docs/file', 'docs/more', 'other']);
  expect(member.context.problems.list()).toMatchObject([{ code: 'path-io', path: 'new' }]);
  entries.delete('new');
  await member.passes(5_000);
  expect(live()).toEqual(['docs/file', 'docs/more', 'new']);
  expect(member.journal.heads.at('new')).toMatchObject([{ from: 'other' }]);
  expect(member.errors).toEqual([]);
});

test('[LC14] a delete does not wait longer for an entry that cannot be read', async () => {
  const { member, disk, entries, live } = await withFiles();
  entries.add('new');
  disk.rename('other', 'new');
  await member.passes(unreadHoldMs * 2);
  expect(live()).toEqual(['docs/file', 'docs/more']);
  // Nor does a later one for the same entry.
  disk.unlink('docs/more');
  await member.passes(1_000);
  expect(live()).toEqual(['docs/file']);
});

test('[LC14] a delete waits for an entry that cannot be read if it is the missing one, and not if it is another one', async () => {
  const { member, disk, live } = await withFiles();
  disk.write('closed', contentOfText('closed'), 0);
  disk.unlink('docs/more');
  await member.passes(unreadHoldMs / 2);
  expect(member.context.problems.list()).toMatchObject([{ code: 'path-permission', path: 'closed' }]);
  expect(live()).toEqual(['docs/file', 'other']);
  disk.rename('other', 'new');
  disk.chmod('new', 0);
  await member.passes(unreadHoldMs / 2);
  expect(live()).toEqual(['docs/file', 'other']);
  disk.chmod('new', 0o644);
  await member.passes(5_000);
  expect(live()).toEqual(['docs/file', 'new']);
});

test('[LC14] a delete waits while a directory where the entry may be cannot be listed, and not longer', async () => {
  const { member, disk, listings, live } = await withFiles();
  listings.add('papers');
  disk.rename('docs', 'papers');
  await member.passes(unreadHoldMs / 2);
  expect(live()).toEqual(['docs/file', 'docs/more', 'other']);
  listings.clear();
  await member.passes(5_000);
  expect(live()).toEqual(['other', 'papers/file', 'papers/more']);
  expect(member.journal.heads.at('papers/file')).toMatchObject([{ from: 'docs/file' }]);
  listings.add('letters');
  disk.rename('papers', 'letters');
  await member.passes(unreadHoldMs * 2);
  expect(live()).toEqual(['other']);
  expect(member.errors).toEqual([]);
});

test('[LC14] the rename of a directory deletes no entry that cannot be read under its new name', async () => {
  const { member, disk, entries, live } = await withFiles();
  entries.add('papers/file');
  disk.rename('docs', 'papers');
  await member.passes(unreadHoldMs / 2);
  expect(live()).toContain('docs/file');
  entries.clear();
  await member.passes(5_000);
  expect(live()).toEqual(['other', 'papers/file', 'papers/more']);
  expect(member.errors).toEqual([]);
});
