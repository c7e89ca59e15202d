import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { appendFile, open, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { Mount, mountAt } from '../../testkit/mount.ts';
import { git, run, shell } from '../../testkit/programs.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const mebibyte = 1_048_576;

const cluster = useCluster(['ant', 'bee']);
let cow: Member;
let root: string;
let env: Record<string, string>;
let mount: Mount;

const ant = (): Member => cluster().member('ant');
const at = (path: string): string => mount.path(path);

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'lockstep-mounts-'));
  env = { LOCKSTEP_CONTENT: 'on-demand', LOCKSTEP_CACHE_SIZE: '24 MiB' };
  cow = await cluster().add('cow', { start: { env } });
  mkdirSync(join(root, 'other'));
  mount = await Mount.open(cow, join(root, 'point'));
});
afterAll(async () => {
  await mount.close();
  rmSync(root, { recursive: true, force: true });
});

/** Waits until the member on demand shows all that is in the folder of ant. */
async function level(): Promise<void> {
  await ant().rescan();
  await eventually(async () => {
    const [mine, others] = [await cow.status(), await ant().status()];
    expect([mine.digest, mine.pending]).toEqual([others.digest, 0]);
  });
}

test('[OD12] programs see all files, and what they read comes from the other members', async () => {
  mkdirSync(ant().path('docs'));
  await ant().put('docs/a', 'of ant\n');
  await ant().put('docs/b', 'of ant too\n');
  await level();
  await eventually(() => expect(readdirSync(at('docs')).sort()).toEqual(['a', 'b']));
  expect(statSync(at('docs/a')).size).toBe(7);
  expect(statSync(at('docs/a')).mtimeMs).toBe(Math.floor(statSync(ant().path('docs/a')).mtimeMs));
  expect(existsSync(cow.path('docs/a'))).toBe(false);
  expect(await readFile(at('docs/a'), 'utf8')).toBe('of ant\n');
  await expect(stat(at('docs/none'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('[OD12] tar archives files that come to the disk for it, and takes none of that for a change', async () => {
  mkdirSync(ant().path('archived'));
  for (const name of ['a', 'b', 'c']) await ant().put(`archived/${name}`, randomBytes(2 * mebibyte));
  await level();
  expect(existsSync(cow.path('archived/a'))).toBe(false);
  const archive = join(root, 'archive.tar');
  await run('tar', ['-cf', archive, '-C', at(''), 'archived']);
  expect(existsSync(cow.path('archived/a'))).toBe(true);
  await run('tar', ['-xf', archive, '-C', root]);
  for (const name of ['a', 'b', 'c'])
    expect(readFileSync(join(root, 'archived', name)).equals(readFileSync(ant().path(`archived/${name}`)))).toBe(true);
});

test('[OD12] a program changes, renames and removes files that are not on this disk', async () => {
  mkdirSync(ant().path('work'));
  for (const name of ['edit', 'replace', 'move', 'mode', 'gone']) await ant().put(`work/${name}`, `${name} of ant\n`);
  await level();
  await eventually(() => expect(readdirSync(at('work'))).toHaveLength(5));
  await shell(
    mount.point,
    'echo more >> work/edit && echo new > work/replace && chmod 600 work/mode && mv work/move work/moved',
  );
  await rm(at('work/gone'));
  await writeFile(at('work/.replace.tmp'), 'newest\n');
  await rename(at('work/.replace.tmp'), at('work/replace'));
  await expect(rmdir(at('work'))).rejects.toMatchObject({ code: 'ENOTEMPTY' });
  await eventually(() => expect(readdirSync(ant().path('work')).sort()).toEqual(['edit', 'mode', 'moved', 'replace']));
  expect(readdirSync(at('work')).sort()).toEqual(['edit', 'mode', 'moved', 'replace']);
  await level();
  expect(readFileSync(ant().path('work/edit'), 'utf8')).toBe('edit of ant\nmore\n');
  expect(readFileSync(ant().path('work/replace'), 'utf8')).toBe('newest\n');
  expect(statSync(ant().path('work/mode')).mode & 0o777).toBe(0o600);
});

test('[OD12] a program that opened a version which was replaced meanwhile does not write into the new one', async () => {
  await ant().put('two-users', 'first\n');
  await level();
  await eventually(() => expect(readdirSync(at('.'))).toContain('two-users'));
  const file = await open(at('two-users'), 'r+');
  try {
    await ant().put('two-users', 'second of ant\n');
    await level();
    // Node has no name for this number.
    await expect(file.write('FIRST\n', 0)).rejects.toMatchObject({ errno: -constants.errno.ESTALE });
    await expect(file.truncate(3)).rejects.toMatchObject({ errno: -constants.errno.ESTALE });
  } finally {
    await file.close();
  }
  await shell(mount.point, 'echo third >> two-users');
  await eventually(() => expect(readFileSync(ant().path('two-users'), 'utf8')).toBe('second of ant\nthird\n'));
});

test('[OD2] a large file can be read from its middle, and by a program that has it open when its holder is killed', async () => {
  const film = randomBytes(12 * mebibyte);
  await writeFile(ant().path('film'), film);
  await cluster().settled([ant(), cluster().member('bee')]);
  await level();
  await eventually(() => expect(readdirSync(mount.point)).toContain('film'));
  const file = await open(at('film'));
  try {
    const part = Buffer.alloc(70_000);
    await file.read(part, 0, part.length, 7 * mebibyte - 1_000);
    expect(part.equals(film.subarray(7 * mebibyte - 1_000, 7 * mebibyte - 1_000 + part.length))).toBe(true);
    await ant().kill();
    const rest = createHash('sha256');
    for (let offset = 0; offset < film.length; offset += mebibyte) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(mebibyte), 0, mebibyte, offset);
      rest.update(buffer.subarray(0, bytesRead));
    }
    expect(rest.digest('hex')).toBe(createHash('sha256').update(film).digest('hex'));
  } finally {
    await file.close();
    await ant().start();
    await cluster().connected();
  }
});

test('[OD12] a repository is cloned and checked out in a cache that is smaller', async () => {
  await git(root, 'init', '-q', 'origin');
  for (let index = 0; index < 40; index++) {
    await writeFile(join(root, 'origin', `file-${index}`), randomBytes(mebibyte / 2));
  }
  await git(join(root, 'origin'), 'add', '.');
  await git(join(root, 'origin'), 'commit', '-qm', 'all');
  await git(mount.point, 'clone', '-q', join(root, 'origin'), 'clone');
  expect(await git(at('clone'), 'status', '--porcelain')).toBe('');
  await cluster().settled([ant(), cluster().member('bee')]);
  await level();
  await eventually(async () => {
    const { cache } = await cow.status();
    expect(cache?.usedBytes).toBeLessThanOrEqual(24 * mebibyte);
    expect(cache?.droppedFiles).toBeGreaterThan(0);
  });
  // All of it is there, though not on this disk.
  expect(await git(at('clone'), 'fsck')).toBe('');
  expect(await git(at('clone'), 'status', '--porcelain')).toBe('');
  expect(readdirSync(at('clone'))).toHaveLength(41);
});

test('[OD23] what programs write is counted once, never exceeds the cache, and is given back when the mount is killed', async () => {
  let mostBytes = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) mostBytes = Math.max(mostBytes, (await cow.status()).cache?.usedBytes ?? 0);
  })();
  const usedBytes = async () => (await cow.status()).cache?.usedBytes ?? 0;
  mkdirSync(at('films'));
  const films = ['a', 'b', 'c', 'd', 'e', 'f'];
  // Each waits until others have those before.
  for (const name of films) await writeFile(at(`films/${name}`), randomBytes(9 * mebibyte));
  await eventually(() => expect(readdirSync(ant().path('films')).sort()).toEqual(films));
  isOver = true;
  await watching;
  expect(mostBytes).toBeGreaterThan(9 * mebibyte);
  expect(mostBytes).toBeLessThanOrEqual(24 * mebibyte);

  const other = await mountAt(join(root, 'other'), cow);
  const file = await open(join(root, 'other', 'draft'), 'w');
  const before = await usedBytes();
  await file.write(randomBytes(12 * mebibyte));
  expect(await usedBytes()).toBeGreaterThanOrEqual(12 * mebibyte);
  // There is no room for both.
  await expect(writeFile(at('films/g'), randomBytes(13 * mebibyte))).rejects.toMatchObject({ code: 'ENOSPC' });
  other.kill('SIGKILL');
  await eventually(async () => expect(await usedBytes()).toBeLessThanOrEqual(before));
  await file.close().catch(() => undefined);
  await run('fusermount3', ['-uz', join(root, 'other')]).catch(() => undefined);
  await writeFile(at('films/g'), randomBytes(13 * mebibyte));
  await rm(at('films'), { recursive: true });
});

test('[FM7] [OD23] a program that writes while its agent is killed goes on when that is back', async () => {
  const bytes = randomBytes(6 * mebibyte);
  const file = await open(at('log'), 'w');
  const write = (start: number) => file.write(bytes, start, mebibyte, start);
  for (const start of [0, 1, 2]) await write(start * mebibyte);
  await cow.kill();
  const next = write(3 * mebibyte).catch((error: NodeJS.ErrnoException) => error.code);
  await cow.start({ env });
  // It waits for a while. When the mount has noticed that no agent is there, programs get an error.
  if ((await next) === 'EIO') await eventually(() => write(3 * mebibyte));
  for (const start of [4, 5]) await eventually(() => write(start * mebibyte));
  await eventually(async () => expect((await cow.status()).cache?.usedBytes).toBeGreaterThanOrEqual(6 * mebibyte));
  await file.close();
  await eventually(async () => expect((await readFile(ant().path('log'))).equals(bytes)).toBe(true));
  await cluster().connected();
});

test('[OD12] a program may write to several hundred files at once', async () => {
  const names = Array.from({ length: 400 }, (_, index) => `many/${index}`);
  mkdirSync(at('many'));
  for (const name of names) await writeFile(at(name), 'before');
  const files = await Promise.all(names.map((name) => open(at(name), 'r+')));
  for (const file of files) await file.write('after!');
  await Promise.all(files.map((file) => file.close()));
  for (const name of names) expect(await readFile(at(name), 'utf8')).toBe('after!');
  await rm(at('many'), { recursive: true });
});

test('[FM2] programs in two mounts of a member add lines to a file in turns', async () => {
  const other = await Mount.open(cow, join(root, 'second'));
  try {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}\n`);
    for (const [index, line] of lines.entries()) {
      await appendFile((index % 2 === 0 ? mount : other).path('turns'), line);
    }
    for (const each of [mount, other]) expect(await readFile(each.path('turns'), 'utf8')).toBe(lines.join(''));
    await eventually(async () => expect(await readFile(ant().path('turns'), 'utf8')).toBe(lines.join('')));
  } finally {
    await other.close();
  }
});

test('[OD12] a file is there while it is fetched: nothing is made or removed in its place', async () => {
  mkdirSync(ant().path('slow/d'), { recursive: true });
  await writeFile(ant().path('slow/d/film'), randomBytes(16 * mebibyte));
  await cluster().settled([ant(), cluster().member('bee')]);
  await level();
  await eventually(() => expect(readdirSync(at('slow/d'))).toEqual(['film']));
  const reading = readFile(at('slow/d/film'));
  let looks = 0;
  const isRead = reading.then(() => true);
  for (;;) {
    expect(readdirSync(at('slow/d'))).toEqual(['film']);
    await expect(open(at('slow/d/film'), 'wx')).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(rmdir(at('slow/d'))).rejects.toMatchObject({ code: 'ENOTEMPTY' });
    looks++;
    if (await Promise.race([isRead, new Promise((resolve) => setImmediate(resolve, false))])) break;
  }
  expect(looks).toBeGreaterThan(1);
  expect((await reading).equals(readFileSync(ant().path('slow/d/film')))).toBe(true);
});

test('[OD7] [OD12] a directory that is renamed has its files at once, also if the old name is made again', async () => {
  for (const name of ['x', 'z']) {
    mkdirSync(ant().path(name));
    for (let index = 0; index < 20; index++) await ant().put(`${name}/${index}`, `${name} ${index}\n`);
  }
  await level();
  await eventually(() => expect(readdirSync(at('z'))).toHaveLength(20));
  await shell(
    mount.point,
    'mv x x2 && test "$(ls x2 | wc -l)" = 20 && cp -r x2 x3 && rm -r x2 && mv z z2 && mkdir z && touch z/new',
  );
  expect(readdirSync(at('x3'))).toHaveLength(20);
  expect(readdirSync(at('z2'))).toHaveLength(20);
  expect(readdirSync(at('z'))).toEqual(['new']);
  await eventually(() => {
    expect(readdirSync(ant().path('z2'))).toHaveLength(20);
    expect(readdirSync(ant().path('x3'))).toHaveLength(20);
    expect(existsSync(ant().path('x2'))).toBe(false);
    expect(readdirSync(ant().path('z'))).toEqual(['new']);
  });
  expect(await readFile(at('z2/7'), 'utf8')).toBe('z 7\n');
});

test('[OD5] [OD12] [OD23] a cache that is full of what must stay: ENOSPC at once for what is not here and for what is written', async () => {
  mkdirSync(ant().path('kept'));
  for (const name of ['kept/a', 'kept/b']) await writeFile(ant().path(name), randomBytes(11 * mebibyte));
  const elsewhere = randomBytes(4 * mebibyte);
  await writeFile(ant().path('elsewhere'), elsewhere);
  await level();
  expect((await lockstep(['pin', cow.path('kept')])).code).toBe(0);
  await eventually(() => expect(readdirSync(cow.path('kept')).sort()).toEqual(['a', 'b']));
  await expect(readFile(at('elsewhere'))).rejects.toMatchObject({ code: 'ENOSPC' });
  await expect(appendFile(at('elsewhere'), 'more')).rejects.toMatchObject({ code: 'ENOSPC' });
  const written = randomBytes(3 * mebibyte);
  await expect(writeFile(at('written'), written)).rejects.toMatchObject({ code: 'ENOSPC' });
  expect((await lockstep(['why', cow.path('written')])).out).toContain(
    'Raise cache_size, connect those that are away, unpin something',
  );
  expect((await cow.status()).cache?.usedBytes).toBeLessThanOrEqual(24 * mebibyte);
  expect((await lockstep(['unpin', cow.path('kept')])).code).toBe(0);
  await writeFile(at('written'), written);
  await eventually(async () => expect((await readFile(ant().path('written'))).equals(written)).toBe(true));
  expect((await readFile(ant().path('elsewhere'))).equals(elsewhere)).toBe(true);
  await eventually(async () => expect((await readFile(at('elsewhere'))).equals(elsewhere)).toBe(true));
});
