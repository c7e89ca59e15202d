import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { JOURNAL_VERSION, LockstepError } from '@lockstep/shared';
import type Sqlite from 'better-sqlite3';
import { describe, expect, test, vi } from 'vitest';
import { SqliteDatabase, SqliteError } from '../os/sqlite.ts';
import { checkJournal } from './check-journal.ts';
import {
  ant,
  antMember,
  bee,
  cat,
  journaledAt,
  mkdir,
  openAnt,
  put,
  remove,
  show,
  temporaryFolder,
} from './fixtures.contract.ts';
import { openJournal } from './journal.ts';
import { translated } from './journal-error.ts';

const pageBytes = 4096;

/** A closed journal of some hundred pages. */
function journalFile(): string {
  const path = join(temporaryFolder(), 'journal.db');
  const journal = openAnt(path);
  const operations = Array.from({ length: 2000 }, (_, index) => put(ant, index + 1, `directory/file-${index}`));
  journal.append([...operations, put(bee, 1, 'directory/file-1', { hlc: 1 }), mkdir(bee, 2, 'e'), put(cat, 1, 'e/x')]);
  show(journal, ...operations);
  journal.close();
  return path;
}

function overwrite(path: string, at: number, bytes: Uint8Array): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}

function change(path: string, ...statements: readonly string[]): void {
  const sqlite = new SqliteDatabase(path);
  for (const sql of statements) sqlite.exec(sql);
  sqlite.close();
}

function errorOf(run: () => unknown): LockstepError {
  try {
    run();
  } catch (error) {
    if (error instanceof LockstepError) return error;
    throw error;
  }
  throw new Error('It did not fail.');
}

describe('a damaged journal', () => {
  const middle = (path: string) => Math.floor(statSync(path).size / pageBytes / 2) * pageBytes;

  test.each<{ name: string; damage: (path: string) => void }>([
    { name: 'emptied', damage: (path) => truncateSync(path) },
    { name: 'cut in the middle', damage: (path) => truncateSync(path, middle(path)) },
    { name: 'cut within a page', damage: (path) => truncateSync(path, middle(path) + 100) },
    { name: 'a page of zeros', damage: (path) => overwrite(path, middle(path), new Uint8Array(pageBytes)) },
    {
      name: 'a page of other bytes',
      damage: (path) => overwrite(path, middle(path), new Uint8Array(pageBytes).fill(0xa5)),
    },
    { name: 'the first page', damage: (path) => overwrite(path, 0, new Uint8Array(pageBytes).fill(0xa5)) },
    { name: 'only the schema', damage: (path) => overwrite(path, 100, new Uint8Array(pageBytes - 100).fill(0x5a)) },
    { name: 'some text', damage: (path) => writeFileSync(path, 'This is no database. '.repeat(1000)) },
    { name: 'another database', damage: (path) => change(path, 'PRAGMA application_id = 1') },
    {
      name: 'no origin of a member',
      damage: (path) => change(path, "UPDATE settings SET value = 'x' WHERE name = 'origin'"),
    },
  ])('[JN10] $name: is refused, and the message says what to do', ({ damage }) => {
    const path = journalFile();
    damage(path);
    const before = readFileSync(path);
    const error = errorOf(() => openAnt(path));
    expect(error.code).toBe('journal-damaged');
    expect(error.message).toContain(`move ${path}, ${path}-wal and ${path}-shm away`);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test('[JN10] is refused before any process writes, too', () => {
    const path = journalFile();
    expect(checkJournal(path)).toEqual({ state: 'sound' });
    overwrite(path, middle(path), new Uint8Array(pageBytes));
    expect(checkJournal(path)).toMatchObject({ state: 'damaged', error: { code: 'journal-damaged' } });
  });

  test('a page that breaks while the journal is open is reported as damage', () => {
    const path = journalFile();
    const journal = openAnt(path);
    // A change by another connection makes this one drop the pages that it read when it opened.
    change(path, "INSERT INTO events VALUES (1, 1, 'joined', '{}')");
    overwrite(path, pageBytes, new Uint8Array(statSync(path).size - pageBytes).fill(0xa5));
    expect(errorOf(() => journal.heads.at('directory/file-7')).code).toBe('journal-damaged');
    journal.close();
  });
});

describe('a journal of another version', () => {
  test('[JN10] a newer one is refused and left as it is', () => {
    const path = journalFile();
    change(path, 'PRAGMA user_version = 99');
    const error = errorOf(() => openAnt(path));
    expect(error.code).toBe('journal-newer');
    expect(error.message).toContain('schema 99');
    expect(checkJournal(path)).toMatchObject({ state: 'newer', error: { code: 'journal-newer' } });
    change(path, `PRAGMA user_version = ${JOURNAL_VERSION}`);
    openAnt(path).close();
  });
});

describe('a check of a journal from outside', () => {
  test('there is no journal: none is created', () => {
    const path = join(temporaryFolder(), 'journal.db');
    expect(checkJournal(path)).toEqual({ state: 'absent' });
    expect(existsSync(path)).toBe(false);
  });

  test('an agent that has it open is not in the way', () => {
    const path = journalFile();
    const journal = openAnt(path);
    journal.transaction(() => {
      journal.append([put(ant, 2001, 'new')]);
      expect(checkJournal(path)).toEqual({ state: 'sound' });
    });
    journal.close();
  });
});

describe('heads that differ from the log', () => {
  const file = 'directory/file-7';

  test.each<{ name: string; sql: string; paths: readonly string[] }>([
    { name: 'a head is missing', sql: `DELETE FROM heads WHERE path = '${file}'`, paths: [file] },
    { name: 'a head is another operation', sql: `UPDATE heads SET seq = 9 WHERE path = '${file}'`, paths: [file] },
    { name: 'a sibling is missing', sql: 'DELETE FROM heads WHERE rank = 1', paths: ['directory/file-1'] },
    { name: 'a state is wrong', sql: `UPDATE heads SET state = 1 WHERE path = '${file}'`, paths: [file] },
    {
      name: 'a path that the log does not know',
      sql: `UPDATE heads SET path = 'stray' WHERE path = '${file}'`,
      paths: [file, 'stray'],
    },
    {
      name: 'all heads are gone',
      sql: "DELETE FROM heads WHERE path < 'directory/file-1000'",
      paths: ['directory/file-0', 'directory/file-1', 'directory/file-10', 'directory/file-100'],
    },
    { name: 'only the sums', sql: 'UPDATE totals SET digest_lo = 1, files = 5, pending = 7', paths: [] },
    { name: 'only the orphans', sql: 'UPDATE heads SET orphan = NULL; DELETE FROM parents', paths: [] },
  ])('[RP1] $name: it is found and repaired', ({ sql, paths }) => {
    const path = journalFile();
    const sound = openAnt(path);
    const everything = (journal: typeof sound) => ({
      digest: journal.totals.digest(),
      counts: journal.totals.counts(),
      applied: journal.applied(),
      heads: journal.heads.under('', undefined, 9999),
      orphans: journal.heads.orphans(undefined, 9999),
      live: ['', 'directory', 'e', 'directory/file-7'].map((directory) => journal.heads.hasLiveBelow(directory)),
    });
    const before = everything(sound);
    expect(before.orphans).toHaveLength(2000);
    sound.close();
    change(path, sql);

    const journal = openAnt(path);
    expect(journal.verifyHeads(false).differing).toEqual(paths);
    expect(journal.verifyHeads(true).differing).toEqual(paths);
    expect(journal.verifyHeads(false).differing).toEqual([]);
    expect(everything(journal)).toEqual(before);
    journal.append([remove(ant, 2001, 'directory/file-7')]);
    expect(journal.totals.counts().files).toBe(before.counts.files - 1);
    journal.close();
  });
});

test('[JN10] a disk that does not answer is no damage of the journal, whatever later reads return', () => {
  const codes = ['SQLITE_CORRUPT', 'SQLITE_IOERR_READ', 'SQLITE_CORRUPT'].map((code) => {
    const error = translated('/disk/journal.db', new SqliteError('it says', code));
    return error instanceof LockstepError && error.code;
  });
  expect(codes).toEqual(['journal-damaged', 'journal-disk', 'journal-disk']);
  expect(translated('/other/journal.db', new SqliteError('it says', 'SQLITE_CORRUPT'))).toMatchObject({
    code: 'journal-damaged',
  });
});

test('[JN10] a quota that is used up, which SQLite takes for a failing disk, is a lack of room', () => {
  const path = join(temporaryFolder(), 'journal.db');
  const reported = (code: string): unknown => translated(path, new SqliteError('disk I/O error', code));
  symlinkSync('/dev/full', `${path}.probe`);
  expect(reported('SQLITE_IOERR_FSYNC')).toMatchObject({ code: 'journal-full' });
  // There is room again.
  expect(reported('SQLITE_IOERR_WRITE')).toMatchObject({ code: 'journal-full' });
  expect(reported('SQLITE_IOERR_FSYNC')).toMatchObject({ code: 'journal-disk' });
});

test('[JN10] a disk that neither takes nor loses a file is a disk that does not answer', () => {
  const error = translated('/dev/null/journal.db', new SqliteError('disk I/O error', 'SQLITE_IOERR_READ'));
  expect(error).toMatchObject({ code: 'journal-disk' });
});

test('a journal that is a link is refused, also one that leads nowhere: the room on another disk is not watched', () => {
  const target = journalFile();
  const link = join(temporaryFolder(), 'journal.db');
  symlinkSync(target, link);
  const nowhere = join(temporaryFolder(), 'journal.db');
  symlinkSync('/nowhere/journal.db', nowhere);
  for (const path of [link, nowhere]) {
    const error = errorOf(() => openAnt(path));
    expect(error).toMatchObject({
      code: 'folder-not-writable',
      message: expect.stringContaining('put the file itself'),
    });
  }
  expect(checkJournal(target).state).toBe('sound');
});

test('[JN10] the owner of a journal learns once that its disk failed', () => {
  const failures: string[] = [];
  const journal = openJournal({
    path: join(temporaryFolder(), 'journal.db'),
    memberId: antMember,
    random: () => 0,
    nowMs: () => journaledAt,
    diskFailed: ({ code }) => failures.push(code),
  });
  const statements = Object.getPrototypeOf(new SqliteDatabase(':memory:').prepare('SELECT 1')) as Sqlite.Statement;
  const run = vi.spyOn(statements, 'run').mockImplementation(() => {
    throw new SqliteError('disk I/O error', 'SQLITE_IOERR_FSYNC');
  });
  for (let attempt = 0; attempt < 2; attempt++) {
    expect(() => journal.append([put(ant, 1, 'a')])).toThrow(expect.objectContaining({ code: 'journal-disk' }));
  }
  run.mockRestore();
  expect(failures).toEqual(['journal-disk']);
  journal.close();
});

test('a journal that this user may not open or write is reported with what to do', () => {
  for (const code of ['SQLITE_CANTOPEN', 'SQLITE_READONLY', 'SQLITE_PERM']) {
    const error = translated('/folder/.lockstep/journal.db', new SqliteError('the reason', code));
    expect(error).toMatchObject({ code: 'folder-not-writable' });
    expect((error as Error).message).toContain('journal.db cannot be opened or written (the reason)');
    expect((error as Error).message).toContain('files that this user may read and write');
  }
});
