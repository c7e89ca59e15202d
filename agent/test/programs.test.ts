import { appendFile, chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Member } from '../../testkit/member.ts';
import { git, run, shell } from '../../testkit/programs.ts';
import { diffTrees, readTree, subtree, type Tree } from '../../testkit/tree.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee', 'cat']);

const trio = () => [cluster().member('ant'), cluster().member('bee'), cluster().member('cat')] as const;

async function write(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}

/** Makes a tree of this many small files, in directories of 50. */
async function makeTree(root: string, files: number): Promise<void> {
  for (let index = 0; index < files; index++) {
    await write(join(root, `d${Math.floor(index / 50)}`, `f${index}.txt`), `${index}\n`.repeat(index % 40));
  }
}

/** Waits until all folders are equal, and compares `directory` with a tree that was made without Lockstep. */
async function expectEverywhere(directory: string, reference: string | Tree): Promise<void> {
  const expected = typeof reference === 'string' ? readTree(reference) : reference;
  const tree = await cluster().settled();
  expect(diffTrees(expected, subtree(tree, directory), ['the reference', 'the folders']).slice(0, 20)).toEqual([]);
}

const sentBytes = async (members: readonly Member[]): Promise<number> => {
  const sums = await Promise.all(members.map((member) => member.metric('lockstep_peer_sent_bytes_total')));
  return sums.reduce((sum, bytes) => sum + bytes, 0);
};

test('git clone on one member, git checkout between branches on the others', async () => {
  const [ant, bee, cat] = trio();
  const origin = join(cluster().root, 'origin');
  await makeTree(join(origin, 'src'), 200);
  await write(join(origin, 'becomes-directory'), 'file\n');
  await write(join(origin, 'becomes-file', 'inside'), 'directory\n');
  await write(join(origin, 'run.sh'), '#!/bin/sh\n');
  await symlink('src/d0', join(origin, 'link'));
  await git(origin, 'init', '--quiet');
  await git(origin, 'add', '.');
  await git(origin, 'commit', '--quiet', '-m', 'first');
  await git(origin, 'checkout', '--quiet', '-b', 'feature');
  await shell(
    origin,
    `rm -r becomes-file becomes-directory link
     mkdir becomes-directory link; echo in > becomes-directory/inside; echo l > link/l; echo f > becomes-file
     chmod 755 run.sh; git mv src/d1 src/renamed; rm -r src/d2
     for f in src/d0/*; do echo changed >> $f; done`,
  );
  await git(origin, 'add', '-A');
  await git(origin, 'commit', '--quiet', '-m', 'second');
  await git(origin, 'checkout', '--quiet', 'main');

  await git(ant.folder, 'clone', '--quiet', origin, 'clone');
  await cluster().settled();
  for (const [member, branch] of [
    [bee, 'feature'],
    [cat, 'main'],
    [ant, 'feature'],
    [bee, 'main'],
  ] as const) {
    await git(member.path('clone'), 'checkout', '--quiet', branch);
    await cluster().settled();
    for (const other of [ant, bee, cat]) {
      const clone = other.path('clone');
      expect(await git(clone, '--no-optional-locks', 'status', '--porcelain'), other.name).toBe('');
      expect((await git(clone, 'rev-parse', '--abbrev-ref', 'HEAD')).trim()).toBe(branch);
      await git(clone, 'fsck', '--strict');
    }
  }
});

test('tar x', async () => {
  const { root } = cluster();
  const source = join(root, 'archive');
  await makeTree(source, 600);
  await shell(source, 'chmod 600 d0/*; chmod 755 d1/f5*; chmod 700 d2; touch -d 1999-12-31T23:59:59.123456 d3/*');
  await shell(source, 'mkdir -p empty/er; ln -s ../d0/f1.txt d1/link; ln -s /nowhere dangling');
  await run('tar', ['--format=posix', '-cf', join(root, 'archive.tar'), '-C', root, 'archive']);
  await run('tar', ['-xf', join(root, 'archive.tar'), '-C', cluster().member('bee').folder]);
  await expectEverywhere('archive', source);
});

test('an npm-like tree with links', async () => {
  const make = async (root: string): Promise<void> => {
    for (let index = 0; index < 120; index++) {
      const name = index % 3 === 0 ? `@scope/package-${index}` : `package-${index}`;
      const directory = join(root, 'node_modules', name);
      await write(join(directory, 'package.json'), JSON.stringify({ name, version: `1.0.${index}` }));
      await write(join(directory, 'bin', 'cli.js'), '#!/usr/bin/env node\n');
      await chmod(join(directory, 'bin', 'cli.js'), 0o755);
      const nested = Array.from({ length: 8 }, (_, depth) => `node_modules/deep-${depth}`).join('/');
      if (index % 20 === 0) await write(join(directory, nested, 'index.js'), 'module.exports = 1;\n');
      const bin = join(root, 'node_modules', '.bin');
      await mkdir(bin, { recursive: true });
      await symlink(`../${name}/bin/cli.js`, join(bin, `cli-${index}`));
    }
    await symlink('../..', join(root, 'node_modules', 'package-1', 'workspace'));
  };
  await make(cluster().member('cat').path('project'));
  await expectEverywhere('project', readTree(cluster().member('cat').path('project')));
  expect((await readFile(cluster().member('ant').path('project/node_modules/.bin/cli-7'))).length).toBeGreaterThan(0);
  await shell(cluster().member('ant').folder, 'rm -rf project/node_modules');
  await expectEverywhere('project', new Map());
});

test('sed -i, rsync into the folder, and rsync again', async () => {
  const [ant, bee, cat] = trio();
  const source = join(cluster().root, 'synced');
  await makeTree(source, 150);
  await run('rsync', ['-a', `${source}/`, cat.path('synced/')]);
  await expectEverywhere('synced', source);

  await shell(bee.path('synced'), 'sed -i s/1/one/ d0/*.txt; sed -i.bak s/2/two/ d1/f51.txt d1/f52.txt');
  await cluster().settled();
  expect(await readFile(ant.path('synced/d0/f21.txt'), 'utf8')).toBe('2one\n'.repeat(21));
  expect(await readFile(cat.path('synced/d1/f52.txt.bak'), 'utf8')).toBe('52\n'.repeat(12));

  // The copy keeps times, so that rsync recognises equal files by their size and time.
  await run('cp', ['-a', bee.path('synced'), join(cluster().root, 'again')]);
  const again = join(cluster().root, 'again');
  for (const name of ['d0/f3.txt', 'd1/f60.txt']) await appendFile(join(again, name), 'more\n');
  await shell(again, 'rm -r d2 d0/f4.txt; mkdir new; echo new > new/file');
  await run('rsync', ['-a', '--delete', `${again}/`, ant.path('synced/')]);
  await expectEverywhere('synced', again);
});

describe('mv of a tree of 1,000 files', () => {
  test('into the folder, within it, and out of it', async () => {
    const [ant, bee, cat] = trio();
    const outside = join(cluster().root, 'outside');
    await makeTree(outside, 1_000);
    const reference = readTree(outside);

    await shell(cluster().root, `mv outside ${ant.path('moved')}`);
    await expectEverywhere('moved', reference);

    const before = await sentBytes([ant, bee, cat]);
    await shell(bee.folder, 'mkdir -p other/place; mv moved other/place/renamed');
    await expectEverywhere('other/place/renamed', reference);
    expect(await sentBytes([ant, bee, cat]), 'bytes sent for a rename').toBe(before);

    await shell(cat.folder, `mv other/place/renamed ${outside}`);
    await expectEverywhere('other', new Map([['place', { what: 'directory 0755' }]]));
    expect(diffTrees(reference, readTree(outside), ['before', 'after'])).toEqual([]);
  });

  test('into the folder and on to another name before any agent has scanned it', async () => {
    const ant = cluster().member('ant');
    const outside = join(cluster().root, 'quick');
    await makeTree(outside, 1_000);
    const reference = readTree(outside);
    await shell(cluster().root, `mv quick ${ant.path('quick')}; mv ${ant.path('quick')} ${ant.path('quicker')}`);
    await expectEverywhere('quicker', reference);
    await shell(
      ant.folder,
      'mv quicker/d0 quicker/d1/d0; mv quicker/d1 quicker/d2/; mv quicker/d2 up; rmdir quicker || true',
    );
    const tree = await cluster().settled();
    expect(subtree(tree, 'up/d1/d0').size).toBe(50);
  });
});

test('[RP1] at the end the journals are consistent and agree with the folders', async () => {
  await cluster().verified();
});
