import { mkdir, readFile, rename, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { shell } from '../../testkit/programs.ts';
import { namesOf, subtree } from '../../testkit/tree.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee', 'cat'], { proxied: true });

const trio = () => [cluster().member('ant'), cluster().member('bee'), cluster().member('cat')] as const;

/** The time stamp of a conflict copy: milliseconds, and the clock's counter if there were several in one. */
const conflictStamp = /\d{8}T\d{9}(\+\d+)?Z/;

let room = '';
let rooms = 0;

beforeEach(() => {
  rooms += 1;
  room = `room-${rooms}`;
});

/** Cuts all links, so that no change reaches another member, not even through a third one. */
async function cutAll(): Promise<void> {
  for (const name of ['ant', 'bee', 'cat']) cluster().links(name, 'cut');
  for (const [a, b] of [
    ['ant', 'bee'],
    ['ant', 'cat'],
    ['bee', 'cat'],
  ] as const) {
    await cluster().apart(a, b);
  }
}

/** Runs the edits on ant and bee without a connection between them, and heals the links. Returns the content of the room. */
async function apart(edits: {
  readonly before?: () => Promise<unknown>;
  readonly ant: () => Promise<unknown>;
  readonly bee: () => Promise<unknown>;
}): Promise<Record<string, string>> {
  const [ant, bee] = trio();
  await mkdir(ant.path(room));
  await edits.before?.();
  await cluster().settled();
  await cutAll();
  await edits.ant();
  await ant.wait({ for: 1 });
  await edits.bee();
  await bee.wait({ for: 1 });
  await cluster().heal();
  return await left();
}

/** The content of the room, which must be the same on all members: contents of files, `directory`, texts of links. */
async function left(): Promise<Record<string, string>> {
  const tree = subtree(await cluster().settled(), room);
  const found: Record<string, string> = {};
  for (const name of namesOf(tree)) {
    const path = cluster().member('cat').path(room, name);
    const what = tree.get(Buffer.from(name).toString('latin1'))?.what ?? '';
    found[name] = what.startsWith('file') ? await readFile(path, 'utf8') : what;
  }
  return found;
}

const write = (member: 'ant' | 'bee', name: string, text: string) => () =>
  writeFile(cluster().member(member).path(room, name), text);

/** The conflict copies among the names, without their time stamps. */
const copies = (names: Record<string, string>): readonly string[] =>
  Object.keys(names)
    .filter((name) => name.includes('.conflict-'))
    .map((name) => name.replace(conflictStamp, 'TIME'));

describe('two members cut apart', () => {
  test('[CF1] two edits of one file: the later keeps the name, and the other is in exactly one copy on all members', async () => {
    const found = await apart({
      before: write('ant', 'file.txt', 'common'),
      ant: write('ant', 'file.txt', 'by ant'),
      bee: write('bee', 'file.txt', 'by bee'),
    });
    expect(copies(found)).toEqual(['file.conflict-TIME-ant.txt']);
    expect(found['file.txt']).toBe('by bee');
    expect(Object.values(found)).toContain('by ant');
    // The copy is an ordinary file from then on.
    const [copy = ''] = Object.keys(found).filter((name) => name.includes('.conflict-'));
    await writeFile(cluster().member('cat').path(room, copy), 'edited copy');
    expect(await left()).toEqual({ 'file.txt': 'by bee', [copy]: 'edited copy' });
    await unlink(cluster().member('bee').path(room, copy));
    expect(await left()).toEqual({ 'file.txt': 'by bee' });
  });

  test('[CF1] the same new name with different contents', async () => {
    const found = await apart({ ant: write('ant', 'new', 'by ant'), bee: write('bee', 'new', 'by bee') });
    expect(copies(found)).toEqual(['new.conflict-TIME-ant']);
    expect(Object.values(found).sort()).toEqual(['by ant', 'by bee']);
  });

  test('[CF2] the same new content twice is no conflict', async () => {
    expect(await apart({ ant: write('ant', 'new', 'equal'), bee: write('bee', 'new', 'equal') })).toEqual({
      new: 'equal',
    });
  });

  test('[CF4] large files also conflict, and keep their whole contents', async () => {
    const [a, b] = ['a'.repeat(3_000_000), 'b'.repeat(2_500_000)];
    const found = await apart({
      before: write('ant', 'big.tar.gz', 'x'.repeat(2_000_000)),
      ant: write('ant', 'big.tar.gz', a),
      bee: write('bee', 'big.tar.gz', b),
    });
    expect(copies(found)).toEqual(['big.conflict-TIME-ant.tar.gz']);
    expect(found['big.tar.gz']).toBe(b);
    expect(Object.values(found)).toContain(a);
  });

  test('[MG4] an edit survives a delete, whichever came later', async () => {
    const [ant, bee] = trio();
    const found = await apart({
      before: () => shell(ant.path(room), 'echo 1 > one; echo 2 > two'),
      ant: () => shell(ant.path(room), 'echo edited > one; rm two'),
      bee: () => shell(bee.path(room), 'rm one; echo edited > two'),
    });
    expect(found).toEqual({ one: 'edited\n', two: 'edited\n' });
  });

  test('[MG8] a deleted directory stays if another member has put an entry into it', async () => {
    const [ant, bee] = trio();
    const found = await apart({
      before: () => shell(ant.path(room), 'mkdir -p d/sub; echo old > d/old; echo old > d/sub/old'),
      ant: () => rm(ant.path(room, 'd'), { recursive: true }),
      bee: () => writeFile(bee.path(room, 'd/sub/new'), 'new'),
    });
    expect(found).toEqual({ d: 'directory 0755', 'd/sub': 'directory 0755', 'd/sub/new': 'new' });
  });

  test('both delete, one recreates', async () => {
    const [ant, bee] = trio();
    const found = await apart({
      before: () => shell(ant.path(room), 'echo old > file'),
      ant: () => unlink(ant.path(room, 'file')),
      bee: () => shell(bee.path(room), 'rm file; echo new > file'),
    });
    expect(found).toEqual({ file: 'new\n' });
  });

  test('a rename and an edit of the same file lose neither', async () => {
    const [ant, bee] = trio();
    const found = await apart({
      before: write('ant', 'old', 'content'),
      ant: () => rename(ant.path(room, 'old'), ant.path(room, 'new')),
      bee: () => writeFile(bee.path(room, 'old'), 'edited'),
    });
    expect(found).toEqual({ new: 'content', old: 'edited' });
  });

  test('one name for two renames, and two names for one file', async () => {
    const [ant, bee] = trio();
    const found = await apart({
      before: () => shell(ant.path(room), 'echo a > a; echo b > b; echo c > c'),
      ant: () => shell(ant.path(room), 'mv a target; mv c c-ant'),
      bee: () => shell(bee.path(room), 'mv b target; mv c c-bee'),
    });
    expect(copies(found)).toEqual(['target.conflict-TIME-ant']);
    expect(found).toMatchObject({ target: 'b\n', 'c-ant': 'c\n', 'c-bee': 'c\n' });
    expect(Object.values(found).sort()).toEqual(['a\n', 'b\n', 'c\n', 'c\n']);
  });

  test('[MG4] a file against a directory of the same name', async () => {
    const [ant, bee] = trio();
    const found = await apart({
      ant: () => shell(ant.path(room), 'mkdir name; echo in > name/in'),
      bee: () => writeFile(bee.path(room, 'name'), 'a file'),
    });
    expect(found['name/in']).toBe('in\n');
    expect(copies(found)).toEqual(['name.conflict-TIME-bee']);
    expect(Object.values(found)).toContain('a file');
  });

  test('a file replaced by a directory against an edit of the file', async () => {
    const [ant, bee] = trio();
    const found = await apart({
      before: write('ant', 'x', 'old'),
      ant: () => shell(ant.path(room), 'rm x; mkdir x; echo in > x/in'),
      bee: () => writeFile(bee.path(room, 'x'), 'edited'),
    });
    expect(found['x/in']).toBe('in\n');
    expect(Object.values(found)).toContain('edited');
  });

  test('[CF1] links with different texts', async () => {
    const [ant, bee] = trio();
    const found = await apart({
      ant: () => symlink('to-ant', ant.path(room, 'link')),
      bee: () => symlink('to-bee', bee.path(room, 'link')),
    });
    expect(found.link).toBe('link to "to-bee"');
    expect(copies(found)).toEqual(['link.conflict-TIME-ant']);
    expect(Object.values(found)).toContain('link to "to-ant"');
  });

  test('[CF2] permissions and times make no conflict', async () => {
    const [ant, bee] = trio();
    const found = await apart({
      before: write('ant', 'file', 'content'),
      ant: () => shell(ant.path(room), 'chmod 600 file'),
      bee: () => shell(bee.path(room), 'chmod 755 file; touch -d 2001-01-01 file'),
    });
    expect(found).toEqual({ file: 'content' });
    expect(((await stat(cluster().member('cat').path(room, 'file'))).mode & 0o777).toString(8)).toBe('755');
  });

  test('one directory renamed twice, with an edit inside', async () => {
    const [ant, bee] = trio();
    const found = await apart({
      before: () => shell(ant.path(room), 'mkdir d; for n in 1 2 3; do echo $n > d/f$n; done'),
      ant: () => shell(ant.path(room), 'mv d ant-d'),
      bee: () => shell(bee.path(room), 'mv d bee-d; echo edited > bee-d/f2'),
    });
    expect(found).toMatchObject({ 'ant-d/f1': '1\n', 'ant-d/f2': '2\n', 'bee-d/f1': '1\n', 'bee-d/f2': 'edited\n' });
    expect(Object.keys(found).some((name) => name === 'd' || name.startsWith('d/'))).toBe(false);
  });

  test('[CF7] a conflict about a conflict copy stacks no suffix', async () => {
    const first = await apart({ ant: write('ant', 'f.txt', 'ant 1'), bee: write('bee', 'f.txt', 'bee 1') });
    const [copy = ''] = Object.keys(first).filter((name) => name.includes('.conflict-'));
    await cutAll();
    const [ant, bee] = trio();
    await writeFile(ant.path(room, copy), 'ant 2');
    await ant.wait({ for: 1 });
    await writeFile(bee.path(room, copy), 'bee 2');
    await bee.wait({ for: 1 });
    await cluster().heal();
    const found = await left();
    expect(Object.values(found).sort()).toEqual(['ant 2', 'bee 1', 'bee 2']);
    for (const name of Object.keys(found)) expect(name.split('.conflict-').length).toBeLessThanOrEqual(2);
  });
});

test('if the responsible member is away, the others wait, and its return resolves the conflict', async () => {
  const [ant, bee, cat] = trio();
  await mkdir(ant.path(room));
  await cluster().settled();
  for (const name of ['ant', 'bee', 'cat']) cluster().links(name, 'cut');
  await cluster().apart('ant', 'bee');
  await writeFile(ant.path(room, 'file'), 'by ant');
  await ant.wait({ for: 1 });
  await writeFile(bee.path(room, 'file'), 'by bee');
  await bee.wait({ for: 1 });
  // cat receives ant's edit, then ant is killed: only cat still has the edit.
  cluster().link('ant', 'cat', 'open');
  await Promise.all([ant.retry(), cat.retry()]);
  await cluster().connected([ant, cat]);
  await ant.wait({ for: 2 });
  await ant.kill();
  await cluster().heal();
  await cluster().settled([bee, cat]);
  const names = namesOf(subtree(cat.tree(), room)).map((name) => name.replace(conflictStamp, 'TIME'));
  expect(names).toEqual(['file', 'file.conflict-TIME-ant']);
  await ant.start();
  await cluster().connected();
  expect(Object.values(await left()).sort()).toEqual(['by ant', 'by bee']);
});

test('[RP1] at the end the journals are consistent and agree with the folders', async () => {
  await cluster().verified();
});
