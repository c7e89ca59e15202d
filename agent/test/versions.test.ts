import { mkdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { hashUnderLockBytesMax } from '@lockstep/shared';
import { type RestoreResult, restoreResultSchema, type VersionsPage, versionsPageSchema } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee', 'cat']);

const member = (name: string): Member => cluster().member(name);

/** Writes each text to the file at this member, one after the other, each only when all members have the one before it. */
async function writes(writer: Member, path: string, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    await writer.put(path, text);
    await cluster().settled();
  }
}

async function versions(at: Member, path: string): Promise<VersionsPage> {
  return versionsPageSchema.parse(await at.get(`/versions/${encodeURIComponent(path)}`));
}

/** The versions once these members have said that they have the one before the current: each is asked for two seconds. */
async function versionsWith(at: Member, path: string, names: readonly string[]): Promise<VersionsPage> {
  return eventually(async () => {
    const page = await versions(at, path);
    expect(page.versions[1]?.members.map(({ name }) => name).sort()).toEqual(names);
    return page;
  });
}

async function history(at: Member, path: string): Promise<string> {
  const { code, out, err } = await lockstep(['history', path, at.folder]);
  if (code !== 0) throw new Error(err);
  return out;
}

async function restore(at: Member, ...args: readonly string[]): Promise<RestoreResult> {
  const { code, out, err } = await lockstep(['restore', '--json', ...args, at.folder]);
  if (code !== 0) throw new Error(err);
  return restoreResultSchema.parse(JSON.parse(out));
}

async function refusal(at: Member, ...args: readonly string[]): Promise<string> {
  const { code, err } = await lockstep(['restore', ...args, at.folder]);
  expect(code).toBe(1);
  return err;
}

const textAt = (at: Member, path: string) => readFile(at.path(path), 'utf8');

/** Removes the history of these members, as users may do. */
async function forget(...members: readonly Member[]): Promise<void> {
  for (const each of members) await rm(each.state('history'), { recursive: true, force: true });
}

test('[OV1] the versions of a file, newest first: when, by whom, how large, and which member has each', async () => {
  await writes(member('ant'), 'plan.txt', ['first', 'second, longer']);
  await writes(member('bee'), 'plan.txt', ['third']);
  // The one that bee itself overwrote is in the history of the others.
  const page = await versionsWith(member('bee'), 'plan.txt', ['ant', 'cat']);
  expect(page.versions.map(({ memberName, size, isCurrent, place }) => [memberName, size, isCurrent, place])).toEqual([
    ['bee', 5, true, 'folder'],
    ['ant', 14, false, null],
    ['ant', 5, false, 'history'],
  ]);
  expect(page.versions.every(({ restorable }) => restorable)).toBe(true);
  const printed = await history(member('bee'), 'plan.txt');
  expect(printed).toMatch(/bee:\d+ +bee +changed +5 B +current version; this folder/);
  expect(printed).toMatch(/ant:\d+ +ant +written +5 B +history here/);
});

test('[OV2] a large file that was overwritten a moment ago is put back', async () => {
  const ant = member('ant');
  const large = 'x'.repeat(hashUnderLockBytesMax);
  await writes(ant, 'film', [`first${large}`]);
  await ant.put('film', `second${large}`);
  const before = await eventually(async () => {
    const [, before] = (await versions(ant, 'film')).versions;
    if (before === undefined) throw new Error('the second version is not journaled yet');
    return before;
  });
  expect(await restore(ant, 'film', '--version', before.label)).toMatchObject({ changed: true });
  expect(await textAt(ant, 'film')).toBe(`first${large}`);
});

test('[OV2] a version that only other members have is put back, and reaches all', async () => {
  const [ant, bee, cat] = [member('ant'), member('bee'), member('cat')];
  await writes(ant, 'own.txt', ['mine, before', 'mine, after']);
  await forget(ant, bee);
  const [, before] = (await versionsWith(ant, 'own.txt', ['cat'])).versions;
  expect(before).toMatchObject({ place: null, members: [{ name: 'cat' }], restorable: true });
  const result = await restore(ant, 'own.txt', '--version', before?.label ?? '');
  expect(result).toMatchObject({ changed: true, restored: { size: 12 } });
  expect(await textAt(ant, 'own.txt')).toBe('mine, before');
  await cluster().settled();
  for (const each of [bee, cat]) expect(await textAt(each, 'own.txt')).toBe('mine, before');
  // It is an ordinary operation of ant, and what it replaced is a version as well.
  const after = await versions(bee, 'own.txt');
  expect(after.versions.map(({ memberName, size }) => [memberName, size])).toEqual([
    ['ant', 12],
    ['ant', 11],
    ['ant', 12],
  ]);
  await restore(bee, 'own.txt');
  await cluster().settled();
  expect(await textAt(ant, 'own.txt')).toBe('mine, after');
});

test('[OV2] a file of several blocks comes back from the history of another member', async () => {
  const [ant, bee] = [member('ant'), member('bee')];
  const large = 'a line of a large file\n'.repeat(200_000);
  await writes(ant, 'large.txt', [large, 'small']);
  await restore(ant, 'large.txt');
  expect(await textAt(ant, 'large.txt')).toBe(large);
  await cluster().settled();
  expect(await textAt(bee, 'large.txt')).toBe(large);
});

test('[OV2] a deleted file is put back with the directories above it', async () => {
  const [ant, bee] = [member('ant'), member('bee')];
  await mkdir(ant.path('old/deep'), { recursive: true });
  await writes(ant, 'old/deep/letter.txt', ['dear all']);
  await rm(bee.path('old'), { recursive: true });
  await cluster().settled();
  await restore(ant, 'old/deep/letter.txt');
  await cluster().settled();
  expect(await textAt(bee, 'old/deep/letter.txt')).toBe('dear all');
  const page = await versions(bee, 'old/deep/letter.txt');
  expect(page.versions.map(({ type }) => type)).toEqual(['file', 'absent', 'file']);
});

test('[OV2] the version of a time, and what a user wrote a moment ago is kept', async () => {
  const [ant, bee] = [member('ant'), member('bee')];
  await writes(ant, 'timed.txt', ['early']);
  const afterEarly = new Date(Date.now() + 1).toISOString();
  await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(afterEarly));
  await writes(bee, 'timed.txt', ['late']);
  await ant.put('timed.txt', 'just now');
  await restore(ant, 'timed.txt', '--at', afterEarly);
  expect(await textAt(ant, 'timed.txt')).toBe('early');
  const sizes = (await versions(ant, 'timed.txt')).versions.map(({ size }) => size);
  expect(sizes).toEqual([5, 8, 4, 5]);
  await cluster().settled();
  await restore(bee, 'timed.txt');
  await cluster().settled();
  expect(await textAt(ant, 'timed.txt')).toBe('just now');
  expect(await refusal(ant, 'timed.txt', '--at', '2001-02-03')).toMatch(/was not known at 2001-02-03/);
});

test('[OV3] a content that no member has any more is refused, and nothing changes', async () => {
  const [ant, bee, cat] = [member('ant'), member('bee'), member('cat')];
  await writes(ant, 'gone.txt', ['lost words', 'later words']);
  await forget(ant, bee, cat);
  expect((await versions(ant, 'gone.txt')).versions[1]).toMatchObject({ place: null, members: [], restorable: false });
  expect(await history(ant, 'gone.txt')).toMatch(/written +10 B +nowhere now/);
  expect(await refusal(ant, 'gone.txt')).toMatch(/No member that is reached now has the content/);
  expect(await textAt(ant, 'gone.txt')).toBe('later words');
  // No problem of the path: it lacks nothing.
  expect((await ant.status()).problems).toEqual([]);
});

test('[OV2] an empty version comes back although no member has one', async () => {
  await writes(member('ant'), 'emptied.txt', ['', 'written']);
  await forget(member('ant'), member('bee'), member('cat'));
  const empty = (await versions(member('bee'), 'emptied.txt')).versions.at(-1);
  expect([empty?.size, empty?.place, empty?.members, empty?.restorable]).toEqual([0, null, [], true]);
  const shown = await member('bee').fetch(
    `/api/v1/content/emptied.txt?version=${encodeURIComponent(empty?.version ?? '')}`,
  );
  expect([shown.status, await shown.text()]).toEqual([200, '']);
  const result = await restore(member('bee'), 'emptied.txt', '--version', empty?.label ?? '');
  expect(result).toMatchObject({ changed: true, restored: { size: 0 } });
  await cluster().settled();
  expect(await textAt(member('cat'), 'emptied.txt')).toBe('');
});

test('[OV3] a path with a directory, or below a link, is refused, and nothing outside the folder is written', async () => {
  const ant = member('ant');
  await writes(ant, 'was-file', ['text']);
  await rm(ant.path('was-file'));
  await cluster().settled();
  await mkdir(ant.path('was-file'));
  await cluster().settled();
  const wasFile = (await versions(ant, 'was-file')).versions.at(-1)?.label ?? '';
  expect(await refusal(ant, 'was-file', '--version', wasFile)).toMatch(/There is a directory at was-file now/);
  expect(await refusal(ant, 'was-file')).toMatch(/was-file is a directory: name a time/);

  await mkdir(ant.path('linked'));
  await writes(ant, 'linked/file.txt', ['inside']);
  await rm(ant.path('linked'), { recursive: true });
  await cluster().settled();
  const outside = `${ant.folder}.elsewhere`;
  await mkdir(outside);
  await symlink(outside, ant.path('linked'));
  await cluster().settled();
  const response = await ant.fetch('api/v1/restore', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ path: 'linked/file.txt' }),
  });
  expect(response.status).toBe(409);
  expect(await response.text()).toMatch(/linked is no directory now/);
  await expect(stat(`${outside}/file.txt`)).rejects.toThrow('ENOENT');
});

test('[OV3] unknown paths, versions and times are refused with what to do', async () => {
  const ant = member('ant');
  await writes(ant, 'known.txt', ['one']);
  expect(await refusal(ant, 'never.txt')).toMatch(/No version of never\.txt is known/);
  expect(await refusal(ant, 'known.txt')).toMatch(/only one version/);
  expect(await refusal(ant, 'known.txt', '--version', 'ant:999999')).toMatch(/lockstep history lists them/);
  const usage = await lockstep(['restore', 'known.txt', '--at', 'yesterday', ant.folder]);
  expect(usage).toMatchObject({ code: 2, err: expect.stringMatching(/is no time: give it as/) });
  expect((await lockstep(['restore', 'known.txt', '--at', '2h', '--version', 'ant:1', ant.folder])).code).toBe(2);
});

test('[OV4] while paused, what this disk has is put back, and what it lacks is refused', async () => {
  const [ant, bee] = [member('ant'), member('bee')];
  await writes(ant, 'paused.txt', ['before']);
  await writes(bee, 'paused.txt', ['after']);
  await writes(ant, 'mine.txt', ['of ant alone', 'its next']);
  expect((await lockstep(['pause', ant.folder])).code).toBe(0);
  expect(await refusal(ant, 'mine.txt')).toMatch(/paused: run lockstep resume first/);
  await restore(ant, 'paused.txt');
  expect(await textAt(ant, 'paused.txt')).toBe('before');
  expect(await textAt(bee, 'paused.txt')).toBe('after');
  expect((await lockstep(['resume', ant.folder])).code).toBe(0);
  await cluster().settled();
  expect(await textAt(bee, 'paused.txt')).toBe('before');
});

test('[OV1] a renamed file has the versions of its earlier name', async () => {
  const [ant, bee] = [member('ant'), member('bee')];
  await writes(ant, 'draft.txt', ['one', 'three']);
  await rename(ant.path('draft.txt'), ant.path('final.txt'));
  await cluster().settled();
  expect(await history(bee, 'final.txt')).toMatch(
    /renamed from draft\.txt[\s\S]*changed, as draft\.txt[\s\S]*written, as draft\.txt/,
  );
  const first = (await versions(bee, 'final.txt')).versions.at(-1);
  await restore(bee, 'final.txt', '--version', first?.label ?? '');
  expect(await textAt(bee, 'final.txt')).toBe('one');
});

test('[OV6] what was deleted in a directory since a time comes back, and nothing else', async () => {
  const [ant, bee] = [member('ant'), member('bee')];
  await mkdir(ant.path('album/inner'), { recursive: true });
  await writes(ant, 'album/earlier.txt', ['deleted before']);
  await rm(ant.path('album/earlier.txt'));
  for (const name of ['one.txt', 'inner/two.txt', 'stays.txt']) await writes(ant, `album/${name}`, [name]);
  const before = Date.now();
  await writes(bee, 'album/one.txt', ['one, changed']);
  await rm(bee.path('album/inner'), { recursive: true });
  await rm(bee.path('album/one.txt'));
  await writes(bee, 'album/stays.txt', ['changed since']);
  expect(await refusal(ant, 'album')).toMatch(/album is a directory: name a time\./);
  const result = await restore(ant, 'album', '--at', new Date(before).toISOString());
  expect(result.below).toEqual({ entries: 3, refused: [], refusedCount: 0, more: false });
  await cluster().settled();
  expect(await textAt(bee, 'album/one.txt')).toBe('one.txt');
  expect(await textAt(bee, 'album/inner/two.txt')).toBe('inner/two.txt');
  expect(await textAt(bee, 'album/stays.txt')).toBe('changed since');
  await expect(stat(bee.path('album/earlier.txt'))).rejects.toThrow('ENOENT');
  const again = await lockstep(['restore', 'album', '--at', new Date(before).toISOString(), ant.folder]);
  expect(again).toMatchObject({
    code: 0,
    out: expect.stringMatching(/Nothing that is in album was deleted since then/),
  });
});

test('[OV6] a deleted directory comes back whole', async () => {
  const [ant, bee] = [member('ant'), member('bee')];
  await mkdir(ant.path('trip/day'), { recursive: true });
  await writes(ant, 'trip/day/photo.txt', ['a photo']);
  await rm(bee.path('trip'), { recursive: true });
  await cluster().settled();
  const { code, out } = await lockstep(['restore', 'trip', ant.folder]);
  expect(code).toBe(0);
  expect(out).toContain('3 deleted entries of trip put back.');
  await cluster().settled();
  expect(await textAt(bee, 'trip/day/photo.txt')).toBe('a photo');
});
