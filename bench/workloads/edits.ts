import { randomBytes, randomInt } from 'node:crypto';
import { appendFile, mkdir, open, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { throughOther } from '../others/other.ts';
import type { Result } from '../result.ts';
import { makeLargeFile, timed } from '../tree.ts';
import type { Place } from './bulk.ts';
import { makePlainFolders, measureChange } from './change.ts';
import { throughLockstep, throughProgram } from './through.ts';

const mebibyte = 1_048_576;
/** Three copies of the file, if all of it is written. */
const memoryMiB = 3_200;

interface Edit {
  readonly name: string;
  /** Makes another file to change, before the time is taken. */
  readonly prepare?: (path: string, scratch: string) => Promise<unknown>;
  readonly run: (path: string, scratch: string) => Promise<unknown>;
  readonly target: Result['target'];
  readonly goal: Result['goal'];
  /** MiB that each peer may receive. */
  readonly receivedMax: number;
}

const edits: readonly Edit[] = [
  {
    name: '4 KiB overwritten inside 1 GiB',
    run: (path) => overwrite(path, randomBytes(4_096), 512 * mebibyte + 12_345),
    target: { timesRsync: 0.6 },
    goal: { timesRsync: 0.4 },
    receivedMax: 1.2,
  },
  {
    name: '1 byte inserted before 1 GiB',
    run: (path) => timed('sh', '-c', `{ printf x; cat "${path}"; } > "${path}.new" && mv "${path}.new" "${path}"`),
    target: { timesRsync: 2 },
    goal: { timesRsync: 1.5 },
    receivedMax: 4,
  },
  {
    name: '500 pages of 4 KiB overwritten in 1 GiB, as in a database',
    run: async (path) => {
      for (let page = 0; page < 500; page++) {
        await overwrite(path, randomBytes(4_096), randomInt((1_024 * mebibyte) / 4_096) * 4_096);
      }
    },
    target: { timesRsync: 2 },
    goal: { timesRsync: 1.5 },
    receivedMax: 24,
  },
  {
    name: '4 MiB appended to 1 GiB',
    run: (path) => appendFile(path, randomBytes(4 * mebibyte)),
    target: { timesRsync: 0.6 },
    goal: { timesRsync: 0.4 },
    receivedMax: 5.2,
  },
  {
    name: 'an archive of 256 files of 1 MiB packed again in another order, one new',
    prepare: pack,
    run: pack,
    target: { timesRsync: 2 },
    goal: { timesRsync: 1.5 },
    // The new file, and the ends of all.
    receivedMax: 24,
  },
  {
    name: '4 KiB in 3 GiB of holes',
    run: async (path) => {
      await writeFile(path, '');
      await truncate(path, 3_072 * mebibyte);
      await overwrite(path, randomBytes(4_096), 512 * mebibyte);
    },
    target: { atMost: 3_000 },
    goal: { atMost: 3_000 },
    receivedMax: 2,
  },
];

/** Packs a directory of `scratch`, which it makes first, in an order of chance. One file in it is new. */
async function pack(path: string, scratch: string): Promise<void> {
  const tree = join(scratch, 'packed');
  const names = Array.from({ length: 256 }, (_, index) => `part-${index}`);
  if ((await mkdir(tree, { recursive: true })) !== undefined) {
    for (const name of names) await writeFile(join(tree, name), randomBytes(mebibyte));
  }
  await writeFile(join(tree, names[randomInt(names.length)] ?? ''), randomBytes(mebibyte));
  const order = names.map((name) => ({ name, at: Math.random() })).sort((a, b) => a.at - b.at);
  await timed('tar', '-cf', join(scratch, 'archive'), '-C', tree, ...order.map(({ name }) => name));
  await rename(join(scratch, 'archive'), path);
}

export async function overwrite(path: string, bytes: Uint8Array, position: number): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.write(bytes, 0, bytes.length, position);
  } finally {
    await file.close();
  }
}

/** Changes in one large file, which the peers have, next to `rsync -a` to two folders; and what each peer receives. */
export async function largeEdits(place: Place): Promise<Result[]> {
  const { members, others, scratch } = place;
  const [ant] = members;
  const template = join(scratch, 'large');
  await makeLargeFile(template, 1_024);
  await throughLockstep(members, () => timed('cp', template, ant.path('file')));
  for (const other of others) await throughOther(other, () => timed('cp', template, join(other.source, 'file')));
  const folders = await makePlainFolders(scratch, ['rsync']);
  for (const path of folders.all) await timed('cp', template, join(path, 'file'));
  const results: Result[] = [];
  for (const { name, prepare, run, target, goal, receivedMax } of edits) {
    if (prepare !== undefined) {
      await throughLockstep(members, () => prepare(ant.path('file'), scratch));
      await prepare(join(folders.source, 'file'), scratch);
      await throughProgram('rsync', folders.source, folders.targets.rsync ?? []);
      for (const other of others) await throughOther(other, () => prepare(join(other.source, 'file'), scratch));
    }
    const edit = { memoryMiB, run: (folder: string) => run(join(folder, 'file'), scratch) };
    const { expenses, received } = await measureChange(place, folders, edit);
    results.push({ name, unit: 'ms', ...expenses.result, target, goal });
    const bound = { atMost: receivedMax };
    results.push({ name: `${name}, to each peer`, unit: 'MiB', lockstep: received, target: bound, goal: bound });
  }
  return results;
}
