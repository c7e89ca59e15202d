import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { JOURNAL_VERSION, type MemberId, type OriginId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { SqliteDatabase } from '../os/sqlite.ts';
import type { Journal } from '../sync/ports/journal.ts';
import { checkJournal, hasLeft } from './check-journal.ts';
import { pathsOf, put, temporaryFolder } from './fixtures.contract.ts';
import { openJournal } from './journal.ts';

/**
 * Journals that earlier versions of Lockstep wrote, one for each schema. They hold the work of two members: files, a moved directory with
 * its entries, a link, a delete and a change of mode. There is also an edit of the other member's file, and a conflict that was settled
 * with a copy.
 */
const stored = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13].map((version) => ({ version }));

/** All of them hold the same operations. */
const digest = 'b958614acdc55ac1';

const memberId = 'z5odng4zai7jlmnurdwjiakfl4do7kjhuxzati3n72dpgohubsha' as MemberId;
const origin = `${memberId}.6xytjgku` as OriginId;
const copy = 'shared.conflict-20261121T153500577Z-ant.txt';

function restore(version: number): string {
  const path = join(temporaryFolder(), 'journal.db');
  const packed = readFileSync(new URL(`fixtures/journal-v${version}.db.gz`, import.meta.url));
  writeFileSync(path, gunzipSync(packed));
  return path;
}

function open(path: string): Journal {
  const random = () => {
    throw new Error('A journal that is there keeps its origin.');
  };
  return openJournal({ path, memberId, random, nowMs: Date.now });
}

function versionOf(path: string): unknown {
  const sqlite = new SqliteDatabase(path, { readonly: true });
  const version = sqlite.pragma('user_version', { simple: true });
  sqlite.close();
  return version;
}

test('[UP3] there is a stored journal of every schema before this one', () => {
  expect(stored.map(({ version }) => version)).toEqual(
    Array.from({ length: JOURNAL_VERSION - 1 }, (_, index) => index + 1),
  );
});

describe.each(stored)('[UP3] a journal of schema $version', ({ version }) => {
  test('has that version and is sound', () => {
    const path = restore(version);
    expect(versionOf(path)).toBe(version);
    expect(checkJournal(path)).toEqual({ state: 'sound' });
    expect(versionOf(path)).toBe(version);
  });

  test('is migrated to this version with all of its data', () => {
    const path = restore(version);
    const journal = open(path);
    expect(journal.origin).toBe(origin);
    expect(journal.totals.digest()).toBe(digest);
    expect(journal.log.length()).toBe(21);
    expect(journal.totals.counts()).toMatchObject({
      files: 5,
      directories: 2,
      bytes: 100_030,
      pending: 0,
    });
    expect(journal.totals.counts()).toMatchObject({
      missingBytes: 0,
      disk: { files: 5, directories: 2, bytes: 100_030 },
    });
    expect(pathsOf(journal.conflictCopies.after(undefined, 9))).toEqual([copy]);
    expect(journal.heads.at('docs/new/large')).toMatchObject([{ kind: 'put', from: 'docs/old/large', size: 100_000 }]);
    expect(journal.heads.at('docs/two.txt')).toMatchObject([{ kind: 'attr', mode: 0o600 }]);
    expect(journal.heads.at('docs/link')).toMatchObject([{ kind: 'symlink', target: 'one.txt' }]);
    expect(journal.heads.at('gone')).toMatchObject([{ kind: 'delete' }]);
    expect(
      journal.members
        .all()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['ant', 'bee']);
    expect(journal.verifyHeads(false).differing).toEqual([]);
    journal.append([put(origin, 19, 'written since')]);
    journal.close();

    expect(versionOf(path)).toBe(JOURNAL_VERSION);
    const again = open(path);
    expect(again.heads.at('written since')).toHaveLength(1);
    expect(again.verifyHeads(false).differing).toEqual([]);
    again.close();
  });
});

test('[UP3] a member that left says so in a journal that was not migrated yet', () => {
  const path = restore(13);
  expect(hasLeft(path, memberId)).toBe(false);
  const database = new SqliteDatabase(path);
  database.prepare(`UPDATE ops SET member = json_set(member, '$.standing', 'left')`).run();
  database.close();
  expect(hasLeft(path, memberId)).toBe(true);
  const journal = open(path);
  expect(journal.members.all().map(({ membership }) => membership)).toEqual(['left', 'left']);
  journal.close();
  expect(hasLeft(path, memberId)).toBe(true);
});
