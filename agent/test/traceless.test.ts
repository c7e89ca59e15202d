import { link, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Cluster } from '../../testkit/cluster.ts';
import { eventually } from '../../testkit/eventually.ts';
import type { Member } from '../../testkit/member.ts';
import { shell } from '../../testkit/programs.ts';
import { namesOf } from '../../testkit/tree.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';
import { MappedFile, mappingLacks } from './support/mapped-file.ts';

/** Far below the ten minutes between scans of the folder. */
const soon = { timeoutMs: 20_000 };
const attemptsMax = 200;

const starts = async (member: Member, path: string, text: string): Promise<void> => {
  expect((await readFile(member.path(path), 'utf8')).slice(0, text.length)).toBe(text);
};

const started = useCluster(['ant', 'bee']);

/** Empties the folders of ant and bee. Then both have a new file `data` of two pages. */
async function openScene(): Promise<{ cluster: Cluster; ant: Member; bee: Member }> {
  const cluster = started();
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await shell(ant.folder, 'rm -f -- *');
  expect(namesOf(await cluster.settled())).toEqual([]);
  await writeFile(ant.path('data'), 'a'.repeat(8_192));
  await cluster.settled();
  return { cluster, ant, bee };
}

/**
 * Changes `data` on ant, and, once bee has that version, the same page again without a trace. Returns the beginning of the file. `between`
 * runs between the two. There is one more attempt whenever the version became durable before: the kernel then sees the next store.
 */
async function changesWithoutTrace(file: MappedFile, ant: Member, bee: Member, between?: () => void): Promise<string> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const text = `attempt-${attempt}`;
    // All is durable: the next sync is that of this change.
    await ant.wait({ for: 'all' });
    // From here on the page is writable in the mapping, until the kernel writes it back.
    await file.store(`mapped-${attempt}`);
    await file.write(text);
    await eventually(() => starts(bee, 'data', text), { intervalMs: 5 });
    between?.();
    if (await file.store(text.toUpperCase())) return text.toUpperCase();
    bee.signal('SIGCONT');
  }
  throw new Error('each store changed the times of the file');
}

test.skipIf(mappingLacks)('[WT40] a store through a mapping arrives within seconds', async () => {
  const { cluster, ant, bee } = await openScene();
  const file = MappedFile.open(ant.path('data'));
  for (const text of ['first', 'second', 'third']) {
    await file.store(text);
    await eventually(() => starts(bee, 'data', text), soon);
  }
  await cluster.settled();
  await cluster.verified();
});

test.skipIf(mappingLacks)('[LC40] a store that does not change size and times arrives', async () => {
  const { cluster, ant, bee } = await openScene();
  const file = MappedFile.open(ant.path('data'));
  for (let round = 0; round < 3; round++) {
    const text = await changesWithoutTrace(file, ant, bee);
    await eventually(() => starts(bee, 'data', text), soon);
  }
  await cluster.settled();
  await cluster.verified();
});

test.skipIf(mappingLacks)('[AK20] wait does not end while the bytes of such a file differ', async () => {
  const { ant, bee } = await openScene();
  const file = MappedFile.open(ant.path('data'));
  for (let round = 0; round < 5; round++) {
    const text = await changesWithoutTrace(file, ant, bee);
    expect(await ant.wait({ for: 'all' })).toMatchObject({ done: true, blocking: [] });
    await starts(bee, 'data', text);
  }
});

test.skipIf(mappingLacks)('[MT40] an edit of another member does not erase such a store', async () => {
  const { cluster, ant, bee } = await openScene();
  const file = MappedFile.open(ant.path('data'));
  let text: string;
  try {
    // bee edits the version that ant published before the store: its agent stops with that one.
    text = await changesWithoutTrace(file, ant, bee, () => bee.signal('SIGSTOP'));
    await starts(bee, 'data', text.toLowerCase());
    await writeFile(bee.path('data'), 'what bee wrote');
  } finally {
    bee.signal('SIGCONT');
  }
  const names = namesOf(await cluster.settled());
  const contents = await Promise.all(names.map((name) => readFile(bee.path(name), 'utf8')));
  expect(contents.map((content) => content.slice(0, text.length)).sort()).toEqual(
    [text, 'what bee wrote'.slice(0, text.length)].sort(),
  );
});

test('[WT40] a write through a hard link whose other name is outside the folder arrives within seconds', async () => {
  const { cluster, ant, bee } = await openScene();
  const outside = join(cluster.root, 'outside');
  await link(ant.path('data'), outside);
  for (const text of ['written outside', 'and written again']) {
    await writeFile(outside, text);
    await eventually(() => starts(bee, 'data', text), soon);
  }
  await cluster.settled();
});

test('[LC1] a write whose time and size are set back arrives', async () => {
  const { cluster, ant, bee } = await openScene();
  const before = await readFile(ant.path('data'), 'utf8');
  await shell(
    ant.folder,
    `cp -p data ../reference; printf %s '${'b'.repeat(before.length)}' > data; touch -r ../reference data`,
  );
  await eventually(() => starts(bee, 'data', 'bbbb'), soon);
  await cluster.settled();
});
