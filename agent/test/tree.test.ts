import { writeFile } from 'node:fs/promises';
import { searchResultSchema, treePageSchema } from '@lockstep/shared/api';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import type { Member } from '../../testkit/member.ts';
import { shell } from '../../testkit/programs.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee']);

async function tree(member: Member, path: string, rest = '') {
  return treePageSchema.parse(await member.get(`/tree?path=${encodeURIComponent(path)}${rest}`));
}

test('[TR1] a directory is read completely, page by page, while entries are added before and after the page', async () => {
  const ant = cluster().member('ant');
  await shell(ant.folder, 'mkdir -p many/00; for n in $(seq 100 250); do mkdir many/$n; echo $n > many/$n/x; done');
  await cluster().settled();
  const names: string[] = [];
  let after: string | null = null;
  do {
    const page = await tree(ant, 'many', `&limit=40${after === null ? '' : `&after=${after}`}`);
    names.push(...page.entries.map(({ name }) => name));
    after = page.next;
    await writeFile(ant.path(`many/0${names.length}`), '');
    await ant.wait({ for: 1 });
  } while (after !== null);
  expect(names).toEqual(['00', ...Array.from({ length: 151 }, (_, index) => String(100 + index))]);
  expect((await tree(ant, 'many')).total).toBe(152 + 4);
});

test('[TR3] an entry names its writer and the members that lack it, and says whether it is in conflict', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  await shell(bee.folder, 'mkdir -p e/sub; echo hello > e/x.txt; echo other > e/x.md; ln -s x.txt e/link');
  await writeFile(bee.path('e/x.conflict-20261121T065602007Z-ant.txt'), 'lost');
  await cluster().settled();
  // ant hears from bee a moment later that it holds them.
  const { entries, members } = await eventually(async () => {
    const page = await tree(ant, 'e');
    expect(page.entries.map(({ holding }) => holding)).toEqual([2, 2, 2, 2, 2]);
    return page;
  });
  expect(members).toBe(2);
  expect(entries.map(({ name, type, conflict }) => [name, type, conflict])).toEqual([
    ['link', 'symlink', false],
    ['sub', 'directory', false],
    ['x.conflict-20261121T065602007Z-ant.txt', 'file', true],
    ['x.md', 'file', false],
    ['x.txt', 'file', true],
  ]);
  expect(entries[4]).toMatchObject({ size: 6, writerName: 'bee', holding: 2, missing: [], pending: false });
  const copy = 'e/x.conflict-20261121T065602007Z-ant.txt';
  expect(await ant.get('/paths/e/x.txt')).toMatchObject({ conflictCopies: [copy] });
  expect(await ant.get('/paths/e/x.md')).toMatchObject({ conflictCopies: [] });
  expect(await ant.get(`/paths/${copy}`)).toMatchObject({ conflictCopies: [], copyOf: 'e/x.txt' });

  await bee.stop();
  onTestFinished(() => bee.start());
  await writeFile(ant.path('e/later'), 'later');
  await ant.wait({ for: 1 });
  const later = (await tree(ant, 'e')).entries.find(({ name }) => name === 'later');
  const { id } = (await ant.status()).members.find(({ name }) => name === 'bee') ?? {};
  expect(later).toMatchObject({ writerName: 'ant', holding: 1, missing: [id] });
});

test('[TR2] a search says if there are more results', async () => {
  const ant = cluster().member('ant');
  await shell(ant.folder, 'mkdir -p needles; touch needles/Needle1 needles/needle2 needles/hay');
  await cluster().settled();
  const search = async (rest: string) => searchResultSchema.parse(await ant.get(`/search?${rest}`));
  const all = await search('name=needle');
  expect(all.entries.map(({ path }) => path)).toEqual(['needles', 'needles/Needle1', 'needles/needle2']);
  expect(all.more).toBe(false);
  expect(await search('name=NEEDLE&limit=2')).toMatchObject({ entries: all.entries.slice(0, 2), more: true });
});
