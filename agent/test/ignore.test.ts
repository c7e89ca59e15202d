import { mkdir, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { pathReportSchema } from '@lockstep/shared/api';
import { expect, test, vi } from 'vitest';
import { namesOf, subtree } from '../../testkit/tree.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee', 'cat']);

const trio = () => [cluster().member('ant'), cluster().member('bee'), cluster().member('cat')] as const;

/** Resolves when `probe` is `ignored` on all running members. */
async function inForce(probe: string, ignored: boolean): Promise<void> {
  for (const member of cluster().running) {
    await vi.waitFor(
      async () =>
        expect(pathReportSchema.parse(await member.get(`/paths/${probe}`)).ignored, member.name).toBe(ignored),
      20_000,
    );
  }
}

/** Writes the rules on one member and waits until they are in force on all: then `probe`, which was not ignored before, is `ignored`. */
async function rules(text: string, probe: string, ignored: boolean): Promise<void> {
  await inForce(probe, !ignored);
  await writeFile(cluster().member('ant').path('.lockstepignore'), text);
  await inForce(probe, ignored);
}

/** Checks that each of these files exists on all members and contains its own name. */
async function existEverywhere(names: readonly string[]): Promise<void> {
  await cluster().settled();
  for (const member of trio()) {
    for (const name of names) {
      const found = await readFile(member.path(name), 'utf8').catch(String);
      expect(found, `${name} on ${member.name}`).toBe(name);
    }
  }
}

test('[IG4] files that were deleted while ignored come back when the rule is removed, and are deleted on no member', async () => {
  const [ant, bee] = trio();
  const names = ['a/build/one', 'a/build/deep/two', 'a/three.tmp', 'a/kept'];
  await mkdir(ant.path('a/build/deep'), { recursive: true });
  for (const name of names) await writeFile(ant.path(name), name);
  await cluster().settled();
  await rules('build/\n*.tmp\n', 'x.tmp', true);
  await rm(bee.path('a/build'), { recursive: true });
  await rm(bee.path('a/three.tmp'));
  await writeFile(bee.path('a/marker'), 'a/marker');
  await bee.wait({ for: 'all' });
  expect(namesOf(subtree(ant.tree(), 'a'))).toEqual(
    expect.arrayContaining(['build/deep/two', 'build/one', 'three.tmp']),
  );
  await rules('# nothing\n', 'x.tmp', false);
  await existEverywhere([...names, 'a/marker']);
});

test('[IG4] the same if a member was cut off or stopped while the rules changed', async () => {
  const [ant, bee, cat] = trio();
  const names = ['b/target/one', 'b/two.o', 'b/three.o', 'b/kept'];
  await mkdir(ant.path('b/target'), { recursive: true });
  for (const name of names) await writeFile(ant.path(name), name);
  await cluster().settled();
  await cat.stop();
  await rules('target\n*.o\n', 'x.o', true);
  await rm(ant.path('b/target'), { recursive: true });
  await rm(bee.path('b/two.o'));
  await cat.start();
  await cluster().connected();
  await inForce('x.o', true);
  await rm(cat.path('b/three.o'));
  await cat.stop();
  await rm(cat.path('b/target'), { recursive: true });
  await unlink(cat.path('.lockstepignore'));
  await cat.start();
  await cluster().connected();
  await existEverywhere(names);
});

test('[IG4] a change that a user made to an ignored file is an ordinary change when the rule is removed', async () => {
  const [ant, bee, cat] = trio();
  await mkdir(ant.path('c'));
  for (const name of ['one', 'two']) await writeFile(ant.path('c', name), 'before');
  await cluster().settled();
  await rules('c/*\n', 'c/x', true);
  await writeFile(bee.path('c/one'), 'changed on bee');
  await rename(bee.path('c/two'), bee.path('c/renamed'));
  await writeFile(bee.path('c/new'), 'new on bee');
  await rules('', 'c/x', false);
  const tree = subtree(await cluster().settled(), 'c');
  expect(namesOf(tree)).toEqual(['new', 'one', 'renamed', 'two']);
  for (const member of [ant, cat]) expect(await readFile(member.path('c/one'), 'utf8')).toBe('changed on bee');
});

test('[IG3] lines that are not patterns are reported with their numbers, and the others are in force', async () => {
  const [ant, bee] = trio();
  const detail = async (): Promise<string | undefined> =>
    (await bee.status()).problems.find(({ code }) => code === 'ignore-rule')?.detail;
  await rules('*.log\n[a-\n/\n!\n*.bak\n', 'y.bak', true);
  await vi.waitFor(async () => expect(await detail()).toBeDefined(), 20_000);
  expect(await detail()).toBe(
    'Line 2 of .lockstepignore is skipped; the other lines are in force. A bracket [ is not closed: add the ], or write \\[ to match a ' +
      'bracket. Also skipped: lines 3, 4.',
  );
  for (const name of ['x.log', 'x.bak', 'x.txt']) await writeFile(ant.path(name), name);
  await ant.wait({ for: 'all' });
  expect(namesOf(bee.tree()).filter((name) => name.startsWith('x.'))).toEqual(['x.txt']);
  await rules('', 'y.bak', false);
  await existEverywhere(['x.log', 'x.bak', 'x.txt']);
  expect(await bee.problems()).toEqual([]);
});

test('[RP1] at the end the journals are consistent and agree with the folders', async () => {
  await cluster().verified();
});
