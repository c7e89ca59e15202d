import { chmod, mkdir, readFile, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { pathReportSchema } from '@lockstep/shared/api';
import { describe, expect, test, vi } from 'vitest';
import { addUnprivileged, isRoot } from '../../testkit/machine/unprivileged.ts';
import type { Member } from '../../testkit/member.ts';
import { shell } from '../../testkit/programs.ts';
import { namesOf } from '../../testkit/tree.ts';
import { startCluster, useCluster } from '../../testkit/vitest/use-cluster.ts';

const rulesName = '.lockstepignore';
const secret = 'secret.env';

async function inForce(members: readonly Member[], probe: string): Promise<void> {
  for (const member of members) {
    await vi.waitFor(
      async () => expect(pathReportSchema.parse(await member.get(`/paths/${probe}`)).ignored, member.name).toBe(true),
      20_000,
    );
  }
}

async function reportOf(member: Member): Promise<string> {
  return vi.waitFor(async () => {
    const found = (await member.status()).problems.find(({ code }) => code === 'ignore-file');
    expect(found, member.name).toBeDefined();
    return found?.detail ?? '';
  }, 20_000);
}

async function isContent(members: readonly Member[]): Promise<void> {
  for (const member of members) await vi.waitFor(async () => expect(await member.problems()).toEqual([]), 20_000);
}

/** The accidents of the file, and the words in which each is reported. */
const accidents: readonly [string, RegExp, (path: string) => Promise<unknown>][] = [
  ['a symbolic link', /is a symbolic link, which is not followed/, (path) => symlink('elsewhere', path)],
  ['a directory', /is a directory: put a file/, (path) => mkdir(path)],
  ['above 1 MiB', /has more than 1048576 bytes: shorten it/, (path) => writeFile(path, '#'.repeat(1_048_577))],
  [
    'UTF-16',
    /is not UTF-8 text, or has a NUL byte in it/,
    (path) => writeFile(path, Buffer.from(`\ufeff${secret}\n`, 'utf16le')),
  ],
];

describe('two members', () => {
  const cluster = useCluster(['ant', 'bee']);

  test('[IG1] rules of more than 64 KiB hold on all members, also after a restart', async () => {
    const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
    await writeFile(ant.path(rulesName), `${'# a comment\n'.repeat(10_000)}${secret}\n`);
    await inForce([ant, bee], secret);
    await bee.restart();
    await cluster().connected();
    for (const member of [ant, bee]) await writeFile(member.path(secret), member.name);
    for (const member of [ant, bee]) {
      await writeFile(member.path(`from-${member.name}`), '');
      await member.wait({ for: 'all' });
    }
    for (const member of [ant, bee]) expect(await readFile(member.path(secret), 'utf8')).toBe(member.name);
  });

  test.each(accidents)(
    '[IG6] %s as .lockstepignore: the rules stay on all members, also over a restart',
    async (_, words, make) => {
      const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
      await writeFile(ant.path(rulesName), `${secret}\n`);
      await inForce([ant, bee], secret);
      await make(ant.path('other'));
      await ant.stop();
      await unlink(ant.path(rulesName));
      await rename(ant.path('other'), ant.path(rulesName));
      await ant.start();
      await cluster().connected();
      // bee received it from ant, which has met it at its start.
      for (const member of [ant, bee]) expect(await reportOf(member)).toMatch(words);
      await bee.restart();
      await cluster().connected();
      for (const member of [ant, bee]) {
        expect(await reportOf(member)).toMatch(/the rules that were read last stay in force/);
        await writeFile(member.path(secret), member.name);
        await writeFile(member.path(`after-${member.name}`), '');
        await member.wait({ for: 'all' });
      }
      for (const member of [ant, bee]) expect(await readFile(member.path(secret), 'utf8')).toBe(member.name);
      await rm(bee.path(rulesName), { recursive: true });
      await writeFile(bee.path(rulesName), `${secret}\n*.tmp\n`);
      await inForce([ant, bee], 'x.tmp');
      await isContent([ant, bee]);
    },
  );
});

test('[IG6] a pipe takes the place of .lockstepignore while the agent runs: it is reported, and the rules stay', async () => {
  const cluster = await startCluster(['ant', 'bee']);
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await writeFile(ant.path(rulesName), `${secret}\n`);
  await inForce([ant, bee], secret);
  await shell(ant.folder, `rm ${rulesName}; mkfifo ${rulesName}`);
  expect(await reportOf(ant)).toMatch(/is a socket, pipe or device: put a file in its place.*stay in force/);
  await writeFile(ant.path(secret), 'ant');
  await writeFile(ant.path('after'), '');
  await vi.waitFor(() => expect(namesOf(bee.tree())).toContain('after'), 20_000);
  expect(namesOf(bee.tree())).not.toContain(secret);
  await unlink(ant.path(rulesName));
  await isContent([ant, bee]);
  expect(await readFile(ant.path(rulesName), 'utf8')).toBe(`${secret}\n`);
});

test.runIf(isRoot)(
  '[IG6] a .lockstepignore that cannot be read: the rules stay, also over a restart (root)',
  async () => {
    const cluster = await startCluster(['bee']);
    const bee = cluster.member('bee');
    const ant = await addUnprivileged(cluster, 'ant');
    await writeFile(ant.path(rulesName), `${secret}\n`);
    await inForce([ant, bee], secret);
    await chmod(ant.path(rulesName), 0);
    await ant.restart();
    await cluster.connected();
    expect(await reportOf(ant)).toMatch(/cannot be read: .*permission/);
    await writeFile(ant.path(secret), 'ant');
    await writeFile(ant.path('after'), '');
    await vi.waitFor(() => expect(namesOf(bee.tree())).toContain('after'), 20_000);
    expect(namesOf(bee.tree())).not.toContain(secret);
    await chmod(ant.path(rulesName), 0o644);
    await isContent([ant, bee]);
  },
);

test('[IG7] a newcomer with a link as .lockstepignore sends nothing of its folder until the file can be read', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  await writeFile(ant.path('common'), 'ant');
  const bee = await cluster.add('bee', {
    prepare: async (folder) => {
      await writeFile(`${folder}/rules`, `${secret}\n`);
      await symlink('rules', `${folder}/${rulesName}`);
      await writeFile(`${folder}/${secret}`, 'bee');
      await writeFile(`${folder}/common`, 'bee');
    },
    start: { ready: false },
  });
  expect(await reportOf(bee)).toMatch(/until then it sends nothing of this folder to other members/);
  await writeFile(ant.path('other'), '');
  // Changes by ant arrive, and the entry in their way is not journaled because of that.
  await vi.waitFor(() => expect(namesOf(bee.tree())).toContain('other'), 20_000);
  expect(namesOf(ant.tree())).toEqual(['common', 'other']);
  await unlink(bee.path(rulesName));
  await writeFile(bee.path(rulesName), `${secret}\n`);
  await inForce([ant, bee], secret);
  await bee.wait({ for: 'all' });
  await vi.waitFor(() => expect(namesOf(ant.tree())).toContain('rules'), 20_000);
  expect(namesOf(ant.tree())).not.toContain(secret);
  expect(await readFile(bee.path(secret), 'utf8')).toBe('bee');
});

test('[IG7] a newcomer sends nothing that the rules of the others exclude, however late the rules arrive', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  // The file is too large for its operation: it is fetched while the newcomer continues.
  await writeFile(ant.path(rulesName), `${'# a comment\n'.repeat(20_000)}${secret}\n`);
  await inForce([ant], secret);
  const bee = await cluster.add('bee', { prepare: (folder) => writeFile(`${folder}/${secret}`, 'bee') });
  await writeFile(bee.path('after'), '');
  await bee.wait({ for: 'all' });
  expect(namesOf(ant.tree())).toEqual([rulesName, 'after']);
});

test('[IG8] a save that makes the file empty or missing for a moment sends nothing that its rules exclude', async () => {
  const cluster = await startCluster(['ant', 'bee']);
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await writeFile(ant.path(rulesName), `${secret}\nother\n`);
  await inForce([ant, bee], secret);
  await writeFile(ant.path(secret), 'for nobody');
  for (const gap of ['truncated', 'renamed'] as const) {
    if (gap === 'truncated') await writeFile(ant.path(rulesName), '');
    else await rename(ant.path(rulesName), ant.path('backup'));
    // bee has the empty file, or none: so the agent of ant has seen that too.
    await vi.waitFor(async () => {
      expect(await readFile(bee.path(rulesName), 'utf8').catch(() => '')).toBe('');
    }, 20_000);
    await writeFile(ant.path(rulesName), `${secret}\n`);
    await cluster.settled([ant]);
    expect(namesOf(bee.tree())).not.toContain(secret);
  }
  await writeFile(ant.path(rulesName), 'nothing of the kind\n');
  await ant.wait({ for: 'all' });
  await vi.waitFor(async () => expect(await readFile(bee.path(secret), 'utf8')).toBe('for nobody'), 20_000);
});

test('[IG9] in a conflict about the rules, files that only one version excludes are sent to no member', async () => {
  const cluster = await startCluster(['ant', 'bee']);
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await bee.stop();
  await writeFile(ant.path(rulesName), 'key-of-ant\n');
  await inForce([ant], 'key-of-ant');
  await writeFile(ant.path('key-of-ant'), 'for nobody');
  await writeFile(bee.path(rulesName), 'key-of-bee\n');
  await writeFile(bee.path('key-of-bee'), 'for nobody');
  await bee.start();
  await cluster.connected();
  for (const member of [ant, bee]) {
    await inForce([member], 'key-of-ant');
    await inForce([member], 'key-of-bee');
    await writeFile(member.path(`from-${member.name}`), '');
    await member.wait({ for: 'all' });
  }
  expect(namesOf(bee.tree())).not.toContain('key-of-ant');
  expect(namesOf(ant.tree())).not.toContain('key-of-bee');
});
