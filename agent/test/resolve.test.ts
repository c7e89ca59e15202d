import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { hashUnderLockBytesMax } from '@lockstep/shared';
import {
  type Conflict,
  conflictsPageSchema,
  type Keep,
  type ResolveResult,
  resolveResultSchema,
} from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee']);
/** Too much to be read under the folder lock. */
const large = 'x'.repeat(hashUnderLockBytesMax + 1);

const pair = () => [cluster().member('ant'), cluster().member('bee')] as const;

/** Makes two versions of each of these files while the members have no connection; bee's is the later one. */
async function conflicts(names: readonly string[]): Promise<readonly Conflict[]> {
  const [ant, bee] = pair();
  await bee.stop();
  for (const name of names) await writeFile(ant.path(name), `by ant: ${name}`);
  await ant.wait({ for: 1 });
  await ant.stop();
  await bee.start();
  for (const name of names) await writeFile(bee.path(name), `by bee: ${name}`);
  await bee.wait({ for: 1 });
  await ant.start();
  await cluster().connected();
  await cluster().settled();
  const page = conflictsPageSchema.parse(await bee.get('/conflicts'));
  const found = names.map((name) => page.conflicts.find(({ path }) => path === name));
  return found.map((conflict) => {
    if (conflict === undefined) throw new Error('a conflict is missing');
    return conflict;
  });
}

function choiceOf({ copy, original }: Conflict, keep: Keep) {
  return {
    copy: copy.path,
    keep,
    copySeen: `${copy.origin}:${copy.seq}`,
    originalSeen: original === null ? null : `${original.origin}:${original.seq}`,
  };
}

async function resolve(choices: readonly ReturnType<typeof choiceOf>[]): Promise<ResolveResult['results']> {
  const [ant] = pair();
  const response = await ant.fetch('api/v1/conflicts/resolve', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ conflicts: choices }),
  });
  return resolveResultSchema.parse(await response.json()).results;
}

async function content(path: string): Promise<{ status: number; text: string }> {
  const response = await pair()[0].fetch(`api/v1/content/${path}`);
  return { status: response.status, text: await response.text() };
}

const textOf = (name: string) => readFile(pair()[1].path(name), 'utf8');

test('[CF8] the choice of the original, the copy or both reaches the folders of all members', async () => {
  const [ant] = pair();
  const found = await conflicts(['original.txt', 'copy.txt', 'both.txt']);
  expect(found.map(({ loser }) => loser)).toEqual(['ant', 'ant', 'ant']);
  expect((await ant.status()).conflictCopies).toBe(3);
  const kinds = ['original', 'copy', 'both'] as const;
  const results = await resolve(found.flatMap((conflict, index) => choiceOf(conflict, kinds[index] ?? 'both')));
  expect(results.map(({ done }) => done)).toEqual([true, true, true]);
  expect(results[2]?.path).toBe('both (from ant).txt');
  await cluster().settled();
  expect(await textOf('original.txt')).toBe('by bee: original.txt');
  expect(await textOf('copy.txt')).toBe('by ant: copy.txt');
  expect(await textOf('both.txt')).toBe('by bee: both.txt');
  expect(await textOf('both (from ant).txt')).toBe('by ant: both.txt');
  for (const member of pair()) expect((await member.status()).conflictCopies).toBe(0);
});

test('[CF8] a large conflict copy that was written a moment ago is settled as well', async () => {
  const [ant] = pair();
  const [found] = await conflicts(['film']);
  await writeFile(ant.path(found?.copy.path ?? ''), large);
  const page = await eventually(async () => {
    const page = conflictsPageSchema.parse(await ant.get('/conflicts'));
    expect(page.conflicts[0]?.copy.size).toBe(large.length);
    return page;
  });
  const results = await resolve(page.conflicts.map((conflict) => choiceOf(conflict, 'copy')));
  expect(results).toEqual([expect.objectContaining({ done: true })]);
  await cluster().settled();
  expect(await textOf('film')).toBe(large);
});

test('[CF8] a version that the person did not see is not changed, and each refusal says why', async () => {
  const [ant] = pair();
  const [one, two, three] = await conflicts(['one', 'two', 'three']);
  if (!one || !two || !three) throw new Error('conflicts are missing');
  const choices = [choiceOf(one, 'original'), choiceOf(two, 'copy'), choiceOf(three, 'both')];
  // Before the agent can notice: the disk counts, not the journal.
  await writeFile(ant.path(one.copy.path), 'edited');
  await writeFile(ant.path('two'), 'edited');
  const changed = await resolve(choices.slice(0, 2));
  for (const { done, reason } of changed) {
    expect(done).toBe(false);
    expect(reason).toMatch(/changed since it was shown|does not show/);
  }
  await cluster().settled();
  for (const { done } of await resolve(choices.slice(0, 2))) expect(done).toBe(false);
  expect(await textOf(one.copy.path)).toBe('edited');
  expect(await textOf('two')).toBe('edited');

  const wrong = { ...choices[2], copy: 'three' } as (typeof choices)[number];
  const [notACopy, taken] = await resolve([wrong, ...choices.slice(2)]);
  expect(notACopy?.reason).toBe('three is not a conflict copy.');
  expect(taken).toMatchObject({ done: true, path: 'three (from ant)' });
  await cluster().settled();
  const [gone] = await resolve(choices.slice(2));
  expect(gone?.reason).toContain('is gone: this conflict is already resolved');
});

test('[CF9] both versions can be read, but nothing through a link, of a directory or of .lockstep', async () => {
  const [ant] = pair();
  const [conflict] = await conflicts(['shown.txt']);
  if (!conflict) throw new Error('the conflict is missing');
  const { copy, original } = conflict;
  expect(await content(`${copy.path}?version=${copy.origin}:${copy.seq}`)).toEqual({
    status: 200,
    text: 'by ant: shown.txt',
  });
  expect((await content(`shown.txt?version=${original?.origin}:${original?.seq}`)).text).toBe('by bee: shown.txt');
  expect((await content('shown.txt')).text).toBe('by bee: shown.txt');
  expect((await content(`other.txt?version=${original?.origin}:${original?.seq}`)).status).toBe(409);

  await mkdir(ant.path('d'));
  await writeFile(ant.path('d', 'inside'), 'inside');
  await symlink('shown.txt', ant.path('link'));
  await cluster().settled();
  expect((await content('d/inside')).text).toBe('inside');
  expect((await content('link')).status).toBe(409);
  expect((await content('d')).status).toBe(409);
  expect((await content('.lockstep/cluster.key')).status).toBe(400);
  // The directory becomes a link to one outside of the folder that holds a file of the same name.
  const outside = `${ant.folder}-outside`;
  await mkdir(outside);
  await writeFile(`${outside}/inside`, 'secret');
  await rename(ant.path('d'), ant.path('e'));
  await symlink(outside, ant.path('d'));
  expect((await content('d/inside')).text).not.toBe('secret');
  await cluster().settled();
  expect(await content('d/inside')).toMatchObject({ status: 409 });
});

test('[CF4] [CF8] a conflict copy with a shortened name is recognised as a copy of its file, and can replace it', async () => {
  const name = `${'ü'.repeat(120)}.txt`;
  const found = await conflicts([name]);
  expect(found.map(({ winner, copy }) => [winner, copy.path.startsWith(name.slice(0, -4))])).toEqual([['bee', false]]);
  const results = await resolve(found.map((conflict) => choiceOf(conflict, 'copy')));
  expect(results.map(({ done }) => done)).toEqual([true]);
  await cluster().settled();
  expect(await textOf(name)).toBe(`by ant: ${name}`);
});
