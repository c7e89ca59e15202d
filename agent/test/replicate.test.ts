import { readFile, writeFile } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee', 'cat']);

test('[SY3] a file dropped into one folder is in the other two', async () => {
  const [ant, bee, cat] = ['ant', 'bee', 'cat'].map((name) => cluster().member(name));
  await writeFile(ant?.path('note.txt') ?? '', 'hello');
  for (const member of [bee, cat]) {
    await vi.waitFor(async () => expect(await readFile(member?.path('note.txt') ?? '', 'utf8')).toBe('hello'), 20_000);
  }
  expect((await cluster().settled()).size).toBe(1);
  await cluster().verified();
});
