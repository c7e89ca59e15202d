import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import {
  chmod,
  lchown,
  link,
  lutimes,
  mkdir,
  readlink,
  rename,
  symlink,
  truncate,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { lockstep } from '../../testkit/member.ts';
import { run, shell } from '../../testkit/programs.ts';
import { diffTrees, namesOf, readTree, subtree } from '../../testkit/tree.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee', 'cat']);

/** Waits until all folders are equal, and checks that `directory` is on all members as it was on `source`. */
async function replicated(directory: string, source = 'ant'): Promise<void> {
  const expected = readTree(cluster().member(source).path(directory));
  const tree = await cluster().settled();
  expect(diffTrees(expected, subtree(tree, directory), [source, 'the folders'])).toEqual([]);
}

test('[LC11] names that are difficult for programs', async () => {
  const ant = cluster().member('ant');
  const names = [
    'a'.repeat(255),
    'é'.repeat(127),
    '🐜'.repeat(63),
    ' ',
    ' leading and trailing ',
    'line\nbreak',
    'tab\tand\rreturn',
    '-rf',
    '--',
    '%',
    '%2F%00',
    'back\\slash',
    '\\',
    '*?[a]{b,c}',
    '$(touch x)`y`',
    '"quoted\' both',
    '🐝 emoji 🐱.txt',
    'e\u0301 decomposed',
    'é decomposed',
    '\u202eright to left',
    '...',
    '.hidden',
    '~',
    'name~',
    '.name.swp',
    '#name#',
    '4913',
    'CON',
    'a:b|c<d>e',
    'lockstep',
    '.git',
    'name.conflict-20200101T000000Z-bee.txt',
    'trailing.',
    '\u0001\u001b[31m',
    '\ufeffmark',
  ];
  await mkdir(ant.path('names'));
  for (const name of names) {
    await writeFile(ant.path('names', name), `content of ${name}`);
    if (name.length > 200 || Buffer.byteLength(name) > 200) continue;
    await mkdir(ant.path('names', `${name} directory`, name), { recursive: true });
    await writeFile(ant.path('names', `${name} directory`, name, name), name);
  }
  await replicated('names');
  expect(namesOf(cluster().member('cat').tree())).toEqual(expect.arrayContaining(names.map((name) => `names/${name}`)));
  await shell(
    ant.path('names'),
    'for f in ./* ./.[!.]*; do mv -- "$f" "../names/x$(printf %s "$f" | md5sum | cut -c1-8)"; done',
  );
  await replicated('names');
});

test('[LC10] names that are not UTF-8, sockets, pipes and devices are reported, counted and not replicated', async () => {
  const ant = cluster().member('ant');
  await mkdir(ant.path('odd'));
  for (const bytes of [
    [0xff, 0xfe, 0x41],
    [0xfe, 0xff, 0x41],
  ])
    await writeFile(Buffer.concat([Buffer.from(`${ant.path('odd')}/`), Buffer.from(bytes)]), 'not UTF-8');
  await symlink(Buffer.from([0x2e, 0xff]), ant.path('odd/link'));
  await run('mkfifo', [ant.path('odd/pipe')]);
  const server = createServer().listen(ant.path('odd/socket'));
  await once(server, 'listening');
  if (process.getuid?.() === 0) await run('mknod', [ant.path('odd/device'), 'c', '1', '3']);
  await writeFile(ant.path('odd/plain'), 'plain');
  expect(await ant.wait({ for: 'all' })).toMatchObject({ done: true });
  const special = readdirSync(ant.path('odd')).filter((name) => ['device', 'pipe', 'socket'].includes(name));
  const said = (await ant.status()).problems.map(({ code, detail }) => `${code}: ${detail}`);
  expect(said.sort()).toEqual([
    'path-not-utf8: The name of odd/\\xfe\\xffA is not UTF-8. It is left alone; rename it to have it replicated.',
    'path-not-utf8: The name of odd/\\xff\\xfeA is not UTF-8. It is left alone; rename it to have it replicated.',
    'path-not-utf8: The target of the link odd/link is not UTF-8. The link is left alone; change its target to have it replicated.',
    ...special.map((name) => `path-special: odd/${name} is a socket, pipe or device. It is left alone.`),
  ]);
  expect(await ant.metric('lockstep_problems', 'path-special')).toBe(special.length);
  expect(namesOf(subtree(cluster().member('bee').tree(), 'odd'))).toEqual(['plain']);
  expect(readTree(ant.path('odd')).size).toBe(4 + special.length);
  // A full scan has the same result.
  await ant.rescan();
  expect(await ant.problems()).toHaveLength(said.length);
  await shell(ant.folder, 'ln -sfn plain odd/link');
  await vi.waitFor(async () => expect(await ant.problems()).toHaveLength(said.length - 1), 20_000);
  await ant.wait({ for: 'all' });
  expect(await readlink(cluster().member('bee').path('odd/link'))).toBe('plain');
  server.close();
  await once(server, 'close');
  await shell(ant.folder, 'rm -r odd');
  await cluster().settled();
  await expect.poll(() => ant.problems()).toEqual([]);
});

test('[LC10] a file that a pipe or a link with a bad target replaces does not count as held, and comes back', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  const files = ['piped', 'linked'];
  for (const name of files) await writeFile(ant.path(name), name);
  await cluster().settled();
  // They are made elsewhere and moved there: a file that is gone for a moment counts as removed on a busy machine.
  const made = join(cluster().root, 'made');
  await mkdir(made);
  await run('mkfifo', [join(made, 'piped')]);
  await symlink(Buffer.from([0x2e, 0xff]), join(made, 'linked'));
  for (const name of files) await rename(join(made, name), ant.path(name));
  for (const name of files) {
    await vi.waitFor(async () => {
      expect((await lockstep(['why', ant.path(name)])).out).toContain(`${name} is not on this disk yet`);
    }, 20_000);
    expect((await ant.wait({ for: 'all', path: name, timeoutMs: 200 })).done).toBe(false);
    expect(readFileSync(bee.path(name), 'utf8')).toBe(name);
  }
  await shell(ant.folder, 'rm piped linked');
  await cluster().settled();
  for (const name of files) expect(readFileSync(ant.path(name), 'utf8')).toBe(name);
  await expect.poll(() => ant.problems(), { timeout: 20_000 }).toEqual([]);
});

test('[CT3] sizes around every limit, and holes', async () => {
  const ant = cluster().member('ant');
  const block = 1024 * 1024;
  const inline = 64 * 1024;
  await mkdir(ant.path('sizes'));
  const sizes = [
    0,
    1,
    2,
    4095,
    4096,
    inline - 1,
    inline,
    inline + 1,
    block - 1,
    block,
    block + 1,
    2 * block,
    5 * block + 17,
  ];
  for (const size of sizes) {
    await writeFile(ant.path('sizes', `random-${size}`), randomBytes(size));
    await writeFile(ant.path('sizes', `zeros-${size}`), Buffer.alloc(size));
  }
  await writeFile(ant.path('sizes/hole'), 'start');
  await truncate(ant.path('sizes/hole'), 20 * block);
  await replicated('sizes');
  // Both directions across each limit.
  const sizesBack = [...sizes].reverse();
  for (const [index, size] of sizes.entries()) {
    await writeFile(cluster().member('bee').path('sizes', `random-${size}`), randomBytes(sizesBack[index] ?? 0));
  }
  await replicated('sizes', 'bee');
});

test('[WT7] the folder of another member is moved into this one: its state is not replicated, and is reported', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  const problems = async (): Promise<readonly (string | undefined)[]> =>
    (await ant.status()).problems.filter(({ code }) => code === 'path-reserved').map(({ path }) => path);
  const outside = join(cluster().root, 'elsewhere');
  await mkdir(join(outside, 'nm/.lockstep'), { recursive: true });
  await writeFile(join(outside, 'nm/.lockstep/identity.key'), 'secret');
  await writeFile(join(outside, 'nm/file'), 'shared');
  await mkdir(ant.path('nest'));
  await cluster().settled();
  await run('mv', [join(outside, 'nm'), ant.path('nest/nm')]);
  await ant.wait({ for: 'all' });
  expect(namesOf(subtree(bee.tree(), 'nest')).sort()).toEqual(['nm', 'nm/file']);
  await expect.poll(problems).toEqual(['nest/nm/.lockstep']);
  // It moves with its parent directories, and blocks no change.
  await rename(ant.path('nest'), ant.path('nested'));
  await ant.wait({ for: 'all' });
  expect(namesOf(subtree(bee.tree(), 'nested')).sort()).toEqual(['nm', 'nm/file']);
  expect(namesOf(bee.tree())).not.toContain('nest');
  await expect.poll(problems).toEqual(['nested/nm/.lockstep']);
  // The directories that contain it stay, even if another member removes them.
  await run('rm', ['-r', bee.path('nested')]);
  await expect.poll(() => namesOf(subtree(ant.tree(), 'nested/nm'))).toEqual(['.lockstep', '.lockstep/identity.key']);
  await run('rm', ['-r', ant.path('nested')]);
  await expect.poll(problems).toEqual([]);
  await ant.wait({ for: 'all' });
});

test('[LC11] mode bits of files and directories', async () => {
  const ant = cluster().member('ant');
  await mkdir(ant.path('modes'));
  const modes = [0o400, 0o444, 0o600, 0o644, 0o755, 0o777, 0o111, 0o000, 0o4755, 0o2755, 0o1644];
  for (const mode of modes) {
    const name = mode.toString(8);
    await writeFile(ant.path('modes', name), name);
    await chmod(ant.path('modes', name), mode);
    await mkdir(ant.path('modes', `d${name}`));
    await writeFile(ant.path('modes', `d${name}`, 'inside'), name);
    await chmod(ant.path('modes', `d${name}`), mode);
  }
  await replicated('modes');
  for (const [index, mode] of modes.entries()) {
    const next = modes[(index + 1) % modes.length] ?? 0;
    await chmod(cluster().member('bee').path('modes', mode.toString(8)), next);
    await chmod(
      cluster()
        .member('bee')
        .path('modes', `d${mode.toString(8)}`),
      next,
    );
  }
  await replicated('modes', 'bee');
  const before = (await ant.status()).operations;
  await shell(ant.path('modes'), 'chmod 644 444; chmod 444 444; chmod 400 444');
  await replicated('modes');
  expect((await ant.status()).operations - before).toBeLessThanOrEqual(3);
});

test('[LC11] modification times: old, future, before 1970, of links, and of content that stays', async () => {
  const ant = cluster().member('ant');
  await mkdir(ant.path('times'));
  const links = join(cluster().root, 'links');
  await mkdir(links);
  for (let count = 0; count < 50; count++) {
    const [seconds, ns] = [randomInt(-2_147_483_648, 4_102_444_800), String(randomInt(1_000_000_000)).padStart(9, '0')];
    await writeFile(ant.path('times', `fine-${count}`), '');
    await run('touch', ['-d', `@${seconds}.${ns}`, ant.path('times', `fine-${count}`)]);
  }
  const times = [0, 1, 946_684_799.123_456, 4_000_000_000.5, -86_400.25, 1_700_000_000.000_001];
  for (const time of times) {
    const path = ant.path('times', String(time));
    await writeFile(path, String(time));
    await utimes(path, time, time);
    // The time of a link is read when the link is found: this one is made outside and moved in with its time.
    await symlink('nowhere', join(links, String(time)));
    await lutimes(join(links, String(time)), time, time);
    await rename(join(links, String(time)), `${path}-link`);
  }
  await replicated('times');
  for (const time of times) {
    for (const name of ['bee', 'cat']) {
      const path = `${cluster().member(name).path('times', String(time))}-link`;
      expect(lstatSync(path).mtimeMs, path).toBeCloseTo(
        lstatSync(`${ant.path('times', String(time))}-link`).mtimeMs,
        2,
      );
    }
  }
  const cat = cluster().member('cat');
  const sent = await cat.metric('lockstep_peer_sent_bytes_total');
  for (const time of times) await utimes(cat.path('times', String(time)), 1_600_000_000.25, 1_600_000_000.25);
  await replicated('times', 'cat');
  expect(await cat.metric('lockstep_peer_sent_bytes_total')).toBe(sent);
});

describe('[LC11] symbolic links', () => {
  test('relative, absolute, dangling, to directories, in circles, out of the folder; never followed', async () => {
    const ant = cluster().member('ant');
    const outside = join(cluster().root, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'secret'), 'not to be replicated');
    await mkdir(ant.path('links/directory'), { recursive: true });
    await writeFile(ant.path('links/directory/file'), 'file');
    const targets = [
      'directory',
      'directory/file',
      '../links',
      '.',
      '..',
      '/nowhere',
      'dangling target',
      outside,
      'circle',
      '🐜',
      'x'.repeat(4000),
    ];
    for (const [index, target] of targets.entries()) await symlink(target, ant.path('links', `link-${index}`));
    await symlink('circle', ant.path('links/circle'));
    await replicated('links');
    expect(await readlink(cluster().member('cat').path('links/link-7'))).toBe(outside);

    // Replaced by another link, by a file, by a directory, and back.
    const bee = cluster().member('bee');
    await symlink('elsewhere', bee.path('links/new'));
    await rename(bee.path('links/new'), bee.path('links/link-0'));
    await unlink(bee.path('links/link-1'));
    await writeFile(bee.path('links/link-1'), 'now a file');
    await unlink(bee.path('links/link-2'));
    await mkdir(bee.path('links/link-2'));
    await writeFile(bee.path('links/link-2/inside'), 'now a directory');
    await replicated('links', 'bee');
    await shell(
      cluster().member('cat').path('links'),
      'rm -r link-2 link-1; ln -s directory link-2; ln -s link-2 link-1',
    );
    await replicated('links', 'cat');
    await expect(lchown(join(outside, 'secret'), 0, 0)).resolves.toBeUndefined();
    expect(namesOf(readTree(outside))).toEqual(['secret']);
  });

  test('[MT8] a directory that becomes a link out of the folder is not written through', async () => {
    const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
    const outside = join(cluster().root, 'trap');
    await mkdir(outside);
    await mkdir(ant.path('trap'));
    await writeFile(ant.path('trap/file'), 'inside');
    await cluster().settled();
    bee.signal('SIGSTOP');
    await shell(bee.folder, `rm -r trap; ln -s ${outside} trap`);
    await writeFile(ant.path('trap/another'), 'written meanwhile');
    bee.signal('SIGCONT');
    await cluster().settled();
    expect(namesOf(readTree(outside))).toEqual([]);
    expect(namesOf(ant.tree()).filter((name) => name.startsWith('trap'))).toContain('trap/another');
  });
});

test('hard links are separate files on the other members, and can be changed separately there', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  await mkdir(ant.path('hard'));
  await writeFile(ant.path('hard/one'), 'same');
  for (const name of ['two', 'three']) await link(ant.path('hard/one'), ant.path('hard', name));
  await replicated('hard');
  await writeFile(bee.path('hard/two'), 'changed on bee');
  await cluster().settled();
  await writeFile(ant.path('hard/one'), 'changed through one name');
  await cluster().settled();
});

test('empty directories, deep ones, and one with 3,000 entries', async () => {
  const ant = cluster().member('ant');
  const deep = Array.from({ length: 200 }, (_, index) => `level-${index}`).join('/');
  await mkdir(ant.path('directories', deep), { recursive: true });
  for (const name of ['a', 'b/c', 'b/d/e']) await mkdir(ant.path('directories/empty', name), { recursive: true });
  await shell(
    ant.path('directories'),
    'mkdir wide; cd wide; seq -f f%g 3000 | xargs touch; seq -f d%g 200 | xargs mkdir',
  );
  await replicated('directories');
  await shell(cluster().member('bee').path('directories'), 'rm -r empty/b wide/d*; mv level-0 moved; mkdir level-0');
  await replicated('directories', 'bee');
});

test('[RP1] at the end the journals are consistent and agree with the folders', async () => {
  await cluster().verified();
});
