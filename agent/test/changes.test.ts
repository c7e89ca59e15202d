import { appendFile, link, mkdir, open, readFile, rename, rm, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { operationsPageSchema } from '@lockstep/shared/api';
import { describe, expect, test, vi } from 'vitest';
import type { Member } from '../../testkit/member.ts';
import { shell } from '../../testkit/programs.ts';
import { namesOf, subtree } from '../../testkit/tree.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee', 'cat']);

const trio = () => [cluster().member('ant'), cluster().member('bee'), cluster().member('cat')] as const;

/** The names and contents of the files below `directory`, which must be the same on all members. */
async function contents(directory: string): Promise<Record<string, string>> {
  const names = namesOf(subtree(await cluster().settled(), directory));
  const found: Record<string, string> = {};
  for (const name of names) {
    const path = cluster().member('cat').path(directory, name);
    if ((await stat(path)).isFile()) found[name] = await readFile(path, 'utf8');
  }
  return found;
}

async function conflictCopies(): Promise<readonly string[]> {
  return namesOf(await cluster().settled()).filter((name) => name.includes('.conflict-'));
}

describe('the result of one line of shell is journaled', () => {
  const cases: readonly (readonly [what: string, prepare: string, script: string, left: Record<string, string>])[] = [
    ['mkdir -p with a file at its end', '', 'mkdir -p a/b/c/d/e; echo x > a/b/c/d/e/file', { 'a/b/c/d/e/file': 'x\n' }],
    ['a tree made and moved', '', 'mkdir -p a/b; echo x > a/b/file; mv a c; mv c/b c/d', { 'c/d/file': 'x\n' }],
    ['delete and recreate the same content', 'echo same > file', 'rm file; echo same > file', { file: 'same\n' }],
    ['delete and recreate a directory', 'mkdir d; echo 1 > d/f', 'rm -r d; mkdir d; echo 2 > d/g', { 'd/g': '2\n' }],
    ['a file becomes a directory', 'echo 1 > x', 'rm x; mkdir x; echo in > x/in', { 'x/in': 'in\n' }],
    ['a directory becomes a file', 'mkdir -p x/y; echo in > x/y/in', 'rm -r x; echo 1 > x', { x: '1\n' }],
    ['a swap of two files', 'echo a > a; echo b > b', 'mv a t; mv b a; mv t b', { a: 'b\n', b: 'a\n' }],
    [
      'a swap of two directories',
      'mkdir a b; echo a > a/f; echo b > b/f; echo g > b/g',
      'mv a t; mv b a; mv t b',
      { 'a/f': 'b\n', 'a/g': 'g\n', 'b/f': 'a\n' },
    ],
    [
      'a chain of renames',
      'for n in 1 2 3 4; do echo $n > f$n; done',
      'for n in 4 3 2 1; do mv f$n f$((n+1)); done',
      {
        f2: '1\n',
        f3: '2\n',
        f4: '3\n',
        f5: '4\n',
      },
    ],
    [
      'a circle of renames',
      'for n in 1 2 3; do echo $n > f$n; done',
      'mv f3 t; mv f2 f3; mv f1 f2; mv t f1',
      {
        f1: '3\n',
        f2: '1\n',
        f3: '2\n',
      },
    ],
    ['a case-only rename of a file', 'echo x > readme', 'mv readme README', { README: 'x\n' }],
    ['a case-only rename of a directory', 'mkdir doc; echo x > doc/f', 'mv doc Doc', { 'Doc/f': 'x\n' }],
    [
      'names that differ in case only',
      '',
      'echo 1 > name; echo 2 > Name; echo 3 > NAME',
      {
        name: '1\n',
        Name: '2\n',
        NAME: '3\n',
      },
    ],
    ['a directory moved into its sibling', 'mkdir a b; echo x > a/f', 'mv a b/', { 'b/a/f': 'x\n' }],
    [
      'a child takes the place of its parent',
      'mkdir -p a/a; echo x > a/a/f',
      'mv a t; mv t/a a; rmdir t',
      { 'a/f': 'x\n' },
    ],
    [
      'a parent becomes a child of its former child',
      'mkdir -p p/c; echo p > p/f; echo c > p/c/f',
      'mv p/c c; mv p c/p',
      {
        'c/f': 'c\n',
        'c/p/f': 'p\n',
      },
    ],
    ['a rename over an existing file', 'echo old > x; echo new > y', 'mv y x', { x: 'new\n' }],
    ['a rename and a change at once', 'echo old > x', 'mv x y; echo more >> y', { y: 'old\nmore\n' }],
    [
      'a rename, and another file under the old name',
      'echo old > x',
      'mv x y; echo other > x',
      { x: 'other\n', y: 'old\n' },
    ],
    ['made and deleted at once', '', 'mkdir d; echo x > d/f; rm -r d', {}],
    [
      'a copy',
      'echo x > x',
      'cp -p x y; cp -r . ../copy-of; mv ../copy-of z',
      { x: 'x\n', y: 'x\n', 'z/x': 'x\n', 'z/y': 'x\n' },
    ],
  ];
  test.each(cases)('%s', async (what, prepare, script, left) => {
    const room = what.replaceAll(' ', '-');
    const [ant, bee] = trio();
    await mkdir(ant.path(room));
    await shell(ant.path(room), `true; ${prepare}`);
    await cluster().settled();
    await shell(bee.path(room), script);
    expect(await contents(room)).toEqual(left);
  });
});

test('[LC7] a renamed file and a renamed directory transfer no content, and keep their attributes', async () => {
  const [ant, bee, cat] = trio();
  await mkdir(ant.path('renames/directory'), { recursive: true });
  await writeFile(ant.path('renames/large'), Buffer.alloc(3_000_000, 'x'));
  for (let index = 0; index < 50; index++) await writeFile(ant.path('renames/directory', `f${index}`), `${index}`);
  await cluster().settled();
  const inode = async (name: string): Promise<number> => (await stat(cat.path('renames', name))).ino;
  const sent = await bee.metric('lockstep_peer_sent_bytes_total');
  const keepsInode = async (from: string, to: string): Promise<boolean> => {
    const before = await inode(from);
    await rename(bee.path('renames', from), bee.path('renames', to));
    await cluster().settled();
    return (await inode(to)) === before;
  };
  expect(await keepsInode('large', 'moved')).toBe(true);
  let [name, next] = ['directory', 'elsewhere'];
  // On a slow machine the operations of one rename may come too far apart: then its files are moved one by one.
  const keepsDirectory = async (): Promise<boolean> => {
    const isKept = await keepsInode(name, next);
    [name, next] = [next, name];
    return isKept;
  };
  await expect.poll(keepsDirectory, { timeout: 60_000 }).toBe(true);
  expect(await bee.metric('lockstep_peer_sent_bytes_total')).toBe(sent);
});

/** Copies `source` to `target` in this directory until it has this free inode number; false if it never gets it. */
async function copiedTo(ino: number, directory: string, source: string, target: string): Promise<boolean> {
  for (let attempt = 0; attempt < 50; attempt++) {
    await shell(directory, `cp -p ${source} ${target}`);
    if ((await stat(join(directory, target))).ino === ino) return true;
    await rename(join(directory, target), join(directory, `${target}-${attempt}`));
  }
  return false;
}

test('[LC30] a large file with the inode, size and time of a removed one is not taken for that one', async (context) => {
  const [ant, bee] = trio();
  const size = 3_000_000;
  const longAgo = 1_000_000_000;
  await writeFile(ant.path('image-2'), Buffer.alloc(size, '2'));
  await utimes(ant.path('image-2'), longAgo, longAgo);
  // Another process on this disk may take the number first: then another round follows.
  for (let round = 0; round < 10; round++) {
    const [directory, old] = [ant.path(`images-${round}`), ant.path(`images-${round}`, 'image-1')];
    await mkdir(directory);
    await writeFile(old, Buffer.alloc(size, '1'));
    await utimes(old, longAgo, longAgo);
    await cluster().settled();
    const { ino } = await stat(old);
    await unlink(old);
    const isAlike = await copiedTo(ino, directory, '../image-2', 'image-3');
    await cluster().settled();
    if (!isAlike) continue;
    const path = `images-${round}/image-3`;
    expect((await readFile(bee.path(path))).equals(Buffer.alloc(size, '2'))).toBe(true);
    const { operations } = operationsPageSchema.parse(await ant.get(`/ops?path=${path}`));
    // There is more than one operation if the file was read before `cp` set its time.
    expect(operations.length).toBeGreaterThan(0);
    expect(operations.filter(({ from }) => from !== undefined)).toEqual([]);
    return;
  }
  context.skip('This file system gives no inode number a second time');
});

test('[LC31] a write through one name of a hard link arrives under the other one', async () => {
  const [ant, bee] = trio();
  for (const directory of ['links/one', 'links/two']) await mkdir(ant.path(directory), { recursive: true });
  await writeFile(ant.path('links/one/name'), 'before');
  await link(ant.path('links/one/name'), ant.path('links/two/name'));
  await cluster().settled();
  await appendFile(ant.path('links/one/name'), ' and after');
  // Not `wait`, which would scan the whole folder.
  const read = () => readFile(bee.path('links/two/name'), 'utf8');
  await vi.waitFor(async () => expect(await read()).toBe('before and after'), { timeout: 20_000 });
});

test('[MT3] atomic saves: readers always see one whole version, and the name never disappears', async () => {
  const [ant, bee, cat] = trio();
  await mkdir(ant.path('saves'));
  const version = (n: number): string => `${n}\n`.repeat(2_000 + n);
  await writeFile(ant.path('saves/file'), version(0));
  await cluster().settled();
  const seen = { bee: 0, cat: 0 };
  let saving = true;
  const read = async (member: Member): Promise<void> => {
    while (saving) {
      const text = await readFile(member.path('saves/file'), 'utf8');
      const n = Number(text.slice(0, text.indexOf('\n')));
      expect(text, `on ${member.name}`).toBe(version(n));
      expect(n).toBeGreaterThanOrEqual(seen[member.name as 'bee']);
      seen[member.name as 'bee'] = n;
    }
  };
  const readers = Promise.all([read(bee), read(cat)]);
  for (let n = 1; n <= 40; n++) {
    await writeFile(ant.path('saves/.file.swp'), version(n));
    await rename(ant.path('saves/.file.swp'), ant.path('saves/file'));
    if (n % 10 === 0) await ant.wait({ for: 'all', path: 'saves/file' });
  }
  await cluster().settled();
  saving = false;
  await readers;
  expect(await readFile(cat.path('saves/file'), 'utf8')).toBe(version(40));
  expect(namesOf(subtree(cat.tree(), 'saves'))).toEqual(['file']);
});

test('editors that keep a backup, truncate and write, or unlink first', async () => {
  const [ant, bee] = trio();
  await mkdir(ant.path('editors'));
  await writeFile(ant.path('editors/file'), 'first');
  await cluster().settled();
  // vim: the old file becomes the backup, the new one is written under the name, and the backup is removed.
  await shell(bee.path('editors'), 'mv file file~; echo second > file; rm file~');
  expect(await contents('editors')).toEqual({ file: 'second\n' });
  await shell(ant.path('editors'), 'rm file; echo third > file');
  expect(await contents('editors')).toEqual({ file: 'third\n' });
  const file = await open(bee.path('editors/file'), 'w');
  await file.write('four');
  await file.write('th\n');
  await file.close();
  expect(await contents('editors')).toEqual({ file: 'fourth\n' });
});

test('a change of content with unchanged size and time', async () => {
  const [ant] = trio();
  await mkdir(ant.path('same-size'));
  await writeFile(ant.path('same-size/file'), 'one');
  await utimes(ant.path('same-size/file'), 1_600_000_000, 1_600_000_000);
  await cluster().settled();
  await writeFile(ant.path('same-size/file'), 'two');
  await utimes(ant.path('same-size/file'), 1_600_000_000, 1_600_000_000);
  expect(await contents('same-size')).toEqual({ file: 'two' });
});

test('appends on one member reach the others in order', async () => {
  const [ant, bee] = trio();
  await mkdir(ant.path('appends'));
  for (let line = 0; line < 200; line++) await appendFile(ant.path('appends/log'), `line ${line}\n`);
  const expected = Array.from({ length: 200 }, (_, line) => `line ${line}\n`).join('');
  await vi.waitFor(async () => expect(await readFile(bee.path('appends/log'), 'utf8')).toBe(expected), 60_000);
  await cluster().settled();
});

test('members change different things at the same time', async () => {
  await Promise.all(
    trio().map(async (member) => {
      await mkdir(member.path('together', member.name), { recursive: true });
      for (let index = 0; index < 100; index++) {
        await writeFile(member.path('together', member.name, `f${index}`), `${member.name} ${index}`);
        if (index % 3 === 0) await unlink(member.path('together', member.name, `f${index}`));
      }
    }),
  );
  expect(Object.keys(await contents('together'))).toHaveLength(3 * 66);
  await Promise.all(trio().map((member) => rm(member.path('together', member.name), { recursive: true })));
  expect(await contents('together')).toEqual({});
});

test('[IG4] a changed .lockstepignore deletes nothing, and entries that are allowed again are scanned', async () => {
  const [ant, bee, cat] = trio();
  await mkdir(ant.path('rules/build'), { recursive: true });
  await writeFile(ant.path('rules/keep'), 'keep');
  await writeFile(ant.path('rules/build/out'), 'built on ant');
  await cluster().settled();
  await writeFile(bee.path('.lockstepignore'), 'build/\n*.tmp\n');
  await cluster().settled();
  // The rules may take effect later than the file reaches a member.
  for (const member of [ant, bee, cat])
    await vi.waitFor(async () => expect(await member.get('/paths/x.tmp')).toMatchObject({ ignored: true }), 20_000);
  for (const member of [ant, bee, cat]) {
    expect(await readFile(member.path('rules/build/out'), 'utf8'), member.name).toBe('built on ant');
  }
  await writeFile(ant.path('rules/build/out'), 'built again on ant');
  await writeFile(ant.path('rules/x.tmp'), 'ignored');
  await writeFile(ant.path('rules/marker'), 'marker');
  await ant.wait({ for: 'all' });
  expect(await readFile(bee.path('rules/build/out'), 'utf8')).toBe('built on ant');
  expect(namesOf(subtree(cat.tree(), 'rules'))).toEqual(['build', 'build/out', 'keep', 'marker']);
  await unlink(bee.path('rules/build/out'));
  await unlink(cat.path('.lockstepignore'));
  await cat.wait({ for: 'all' });
  await vi.waitFor(() => expect(namesOf(bee.tree())).not.toContain('.lockstepignore'), 20_000);
  await cluster().settled();
  expect(await readFile(ant.path('rules/x.tmp'), 'utf8')).toBe('ignored');
});

test('[LC2] none of the tests above has made a conflict copy', async () => {
  expect(await conflictCopies()).toEqual([]);
  await cluster().verified();
});
