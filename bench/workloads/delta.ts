import { randomBytes, randomInt } from 'node:crypto';
import { appendFile, mkdir, open, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type * as Sqlite from '../../agent/dist/os/sqlite.js';
import { git } from '../../testkit/programs.ts';
import { repositoryRoot } from '../../testkit/repository.ts';
import { throughOther } from '../others/other.ts';
import { median, type Result } from '../result.ts';
import { remove, timed } from '../tree.ts';
import type { Place } from './bulk.ts';
import { type Change, makePlainFolders, measureChange } from './change.ts';
import { overwrite } from './edits.ts';
import { throughLockstep } from './through.ts';

const mebibyte = 1_048_576;

/** A kind of file that changes a little at a time. */
interface Kept {
  readonly name: string;
  readonly memoryMiB: number;
  /** Makes it in an empty directory. */
  readonly make: (directory: string) => Promise<unknown>;
  /** Makes in `scratch` what the change needs. */
  readonly prepare?: (scratch: string) => Promise<unknown>;
  /** Changes it in the directory. */
  readonly change: (directory: string, scratch: string) => Promise<unknown>;
}

const kinds: readonly Kept[] = [
  {
    name: 'a database of 200 MB, 2,000 rows updated',
    memoryMiB: 700,
    make: (directory) => makeDatabase(join(directory, 'database.sqlite')),
    change: (directory) => updateRows(join(directory, 'database.sqlite')),
  },
  {
    name: 'a log of 256 MiB, 4 MiB appended in lines',
    memoryMiB: 800,
    make: (directory) => appendLines(join(directory, 'server.log'), 256 * mebibyte),
    change: (directory) => appendLines(join(directory, 'server.log'), 4 * mebibyte),
  },
  {
    name: 'a zip of 2,000 files, packed again with 20 changed',
    memoryMiB: 200,
    make: async (directory) => {
      const tree = `${directory}-tree`;
      for (let index = 0; index < textFiles; index++) await writeText(tree, index, 65_536);
      await timed('sh', '-c', `cd "${tree}" && zip -q -r -X "${directory}/archive.zip" .`);
    },
    prepare: async (scratch) => {
      const tree = join(scratch, 'kept-tree');
      for (const index of someOf(textFiles, 20)) await writeText(tree, index, 65_536);
      await remove(join(scratch, 'next.zip'));
      await timed('sh', '-c', `cd "${tree}" && zip -q -r -X ../next.zip .`);
    },
    change: (directory, scratch) => {
      const path = join(directory, 'archive.zip');
      return timed('sh', '-c', `cp "${scratch}/next.zip" "${path}.new" && mv "${path}.new" "${path}"`);
    },
  },
  {
    name: 'an image of 1 GiB of a virtual machine, 600 pages written',
    memoryMiB: 3_200,
    make: (directory) => makeImage(join(directory, 'disk.img')),
    change: (directory) => writeAsGuest(join(directory, 'disk.img')),
  },
  {
    name: 'a git repository, a commit and `git gc`',
    memoryMiB: 200,
    make: async (directory) => {
      await git(directory, 'init', '-q');
      for (let index = 0; index < textFiles; index++) await writeText(directory, index, 32_768);
      await commit(directory);
      for (let round = 0; round < 10; round++) await changeAndCommit(directory);
      await git(directory, 'gc', '-q', '--prune=now');
    },
    change: async (directory) => {
      await changeAndCommit(directory);
      await git(directory, 'gc', '-q', '--prune=now');
    },
  },
];

const textFiles = 2_000;
const words = Array.from({ length: 4_000 }, () => randomBytes(randomInt(2, 6)).toString('hex'));

function text(bytes: number): string {
  const parts: string[] = [];
  for (let length = 0; length < bytes; length += (parts.at(-1)?.length ?? 0) + 1) {
    parts.push(words[randomInt(words.length)] ?? '');
  }
  return parts.join(' ').slice(0, bytes);
}

/** Numbers below `count`, chosen at random, each once. */
const someOf = (count: number, some: number): readonly number[] => {
  const chosen = new Set<number>();
  while (chosen.size < some) chosen.add(randomInt(count));
  return [...chosen];
};

async function writeText(tree: string, index: number, bytes: number): Promise<void> {
  const directory = join(tree, `d${index % 20}`);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, `f${index}.txt`), text(bytes));
}

const loadSqlite = (): Promise<typeof Sqlite> => import(join(repositoryRoot, 'agent', 'dist', 'os', 'sqlite.js'));

async function makeDatabase(path: string): Promise<void> {
  const { SqliteDatabase } = await loadSqlite();
  const database = new SqliteDatabase(path);
  database.pragma('journal_mode = WAL');
  database.exec('CREATE TABLE item (id INTEGER PRIMARY KEY, count INTEGER NOT NULL, name TEXT, body BLOB)');
  const insert = database.prepare('INSERT INTO item (count, name, body) VALUES (0, ?, ?)');
  database.transaction(() => {
    for (let index = 0; index < rows; index++) insert.run(`item ${index}`, randomBytes(900));
  })();
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
}

const rows = 200_000;

/** Each row in a transaction of its own, as a server does; then what was written goes into the file. */
async function updateRows(path: string): Promise<void> {
  const { SqliteDatabase } = await loadSqlite();
  const database = new SqliteDatabase(path);
  const update = database.prepare('UPDATE item SET count = count + 1, name = ? WHERE id = ?');
  for (let index = 0; index < 2_000; index++) update.run(`item ${randomInt(1_000_000)}`, 1 + randomInt(rows));
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
}

async function appendLines(path: string, bytes: number): Promise<void> {
  for (let left = bytes; left > 0; left -= 65_536) {
    const lines = Array.from({ length: 512 }, () => `2026-11-28T12:00:00Z GET /${randomBytes(48).toString('hex')}`);
    await appendFile(path, `${lines.join('\n').slice(0, 65_535)}\n`);
  }
}

/** Ten parts of 60 MiB with data, between holes. */
const imageParts = Array.from({ length: 10 }, (_, index) => index * 100 * mebibyte);
const imagePartMiB = 60;

async function makeImage(path: string): Promise<void> {
  await writeFile(path, '');
  await truncate(path, 1_024 * mebibyte);
  const file = await open(path, 'r+');
  for (const start of imageParts) {
    for (let index = 0; index < imagePartMiB; index++) {
      await file.write(randomBytes(mebibyte), 0, mebibyte, start + index * mebibyte);
    }
  }
  await file.close();
}

/** A guest writes 200 pages to its journal, one after the other, 350 somewhere in its data and 50 where nothing was. */
async function writeAsGuest(path: string): Promise<void> {
  const page = 4_096;
  const [journal = 0] = imageParts;
  const among = (from: number, mebibytes: number): number =>
    (imageParts[randomInt(imageParts.length)] ?? 0) + from * mebibyte + randomInt((mebibytes * mebibyte) / page) * page;
  for (let index = 0; index < 200; index++) await overwrite(path, randomBytes(page), journal + index * page);
  for (let index = 0; index < 350; index++) await overwrite(path, randomBytes(page), among(0, imagePartMiB));
  for (let index = 0; index < 50; index++) await overwrite(path, randomBytes(page), among(imagePartMiB, 40));
}

async function commit(directory: string): Promise<void> {
  await git(directory, 'add', '-A');
  await git(directory, 'commit', '-q', '-m', 'change');
}

/** Changes a line in each of 20 files. */
async function changeAndCommit(directory: string): Promise<void> {
  for (const index of someOf(textFiles, 20)) {
    await overwrite(join(directory, `d${index % 20}`, `f${index}.txt`), Buffer.from(text(100)), randomInt(30_000));
  }
  await commit(directory);
}

/**
 * A small change of each kind, which the peers have, next to `rsync -a` to two folders and its delta transfer; and the contents that each peer
 * receives.
 */
export async function smallChanges(place: Place): Promise<Result[]> {
  const { members, others, scratch } = place;
  const [ant] = members;
  const results: Result[] = [];
  for (const { name, memoryMiB, make, prepare, change } of kinds) {
    const template = join(scratch, 'kept');
    await mkdir(template);
    await make(template);
    const put = (folder: string): Promise<unknown> =>
      timed('cp', '-a', '--sparse=always', template, join(folder, 'kept'));
    await throughLockstep(members, () => put(ant.folder));
    for (const other of others) await throughOther(other, () => put(other.source));
    const folders = await makePlainFolders(scratch, ['rsync', 'rsyncDelta']);
    for (const folder of folders.all) await put(folder);
    const measured: Change = {
      memoryMiB,
      ...(prepare && { prepare: () => prepare(scratch) }),
      run: (folder) => change(join(folder, 'kept'), scratch),
    };
    const { expenses, received } = await measureChange(place, folders, measured);
    const { result } = expenses;
    results.push({ name, unit: 'ms', ...result, target: { timesRsync: 2 }, goal: { timesRsync: 1.5 } });
    results.push({
      name: `${name}, to each peer`,
      unit: 'MiB',
      lockstep: received,
      rsyncDelta: [median(result.wireMiB?.rsyncDelta ?? []) / 2],
      target: { timesDelta: 2 },
      goal: { timesDelta: 1 },
    });
    await throughLockstep(members, () => remove(ant.path('kept')));
    for (const other of others) await throughOther(other, () => remove(join(other.source, 'kept')));
    for (const path of ['kept', 'kept-tree', 'next.zip']) await remove(join(scratch, path));
  }
  return results;
}
