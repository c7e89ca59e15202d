import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathReportSchema } from '@lockstep/shared/api';
import { expect, test, vi } from 'vitest';
import type { Cluster } from '../../testkit/cluster.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { namesOf, type Tree } from '../../testkit/tree.ts';
import { startCluster, useCluster } from '../../testkit/vitest/use-cluster.ts';
import { addOnDemand, level, read } from './support/on-demand.ts';

const patience = { timeout: 60_000, interval: 200 };

const shared = useCluster(['ant', 'bee', 'cat'], { proxied: true });

interface Scene {
  readonly cluster: Cluster;
  readonly ant: Member;
  readonly others: readonly [Member, Member];
  /** The names in a tree that earlier tests have not left. */
  readonly added: (tree: Tree) => readonly string[];
}

/** Gets ant, and two others on links that can be slowed down. All are level, whatever a test before has done to them. */
async function openScene(): Promise<Scene> {
  const cluster = shared();
  const [ant, bee, cat] = cluster.members as [Member, Member, Member];
  for (const member of cluster.members) if (!member.running) await member.start();
  await cluster.heal();
  const before = namesOf(await cluster.settled());
  return { cluster, ant, others: [bee, cat], added: (tree) => namesOf(tree).filter((name) => !before.includes(name)) };
}

test('[CT14] a file that all members removed while it was ignored is deleted when the rule is removed', async () => {
  const { cluster, ant } = await openScene();
  const members = cluster.running;
  await mkdir(ant.path('build'));
  for (const name of ['one.o', 'two.o', 'three.o']) await writeFile(ant.path('build', name), name.repeat(30_000));
  await writeFile(ant.path('kept'), 'kept');
  await cluster.settled();
  const inForce = async (ignored: boolean): Promise<void> => {
    for (const member of members) {
      await vi.waitFor(async () => {
        expect(pathReportSchema.parse(await member.get('/paths/build/one.o')).ignored).toBe(ignored);
      }, patience);
    }
  };
  await writeFile(ant.path('.lockstepignore'), '*.o\n');
  await inForce(true);
  for (const member of members)
    for (const name of ['one.o', 'two.o', 'three.o']) await unlink(member.path('build', name));
  for (const member of members) {
    // The history does not help: it is removed too, as users may do.
    await member.stop();
    await rm(member.state('history'), { recursive: true });
    await member.start();
  }
  await cluster.connected();
  await writeFile(ant.path('.lockstepignore'), '');
  await inForce(false);
  await vi.waitFor(async () => {
    for (const member of members) expect(await member.problems(), member.name).toEqual([]);
    await ant.wait({ for: 'all', timeoutMs: 1_000 });
    const report = pathReportSchema.parse(await ant.get('/paths/build/one.o'));
    expect(report.heads.map(({ kind }) => kind)).toEqual(['delete']);
  }, patience);
  expect(namesOf(await cluster.settled())).toEqual(['.lockstepignore', 'build', 'kept']);
  await cluster.verified();
});

function slowDown(cluster: Cluster, bytesPerSecond: number | undefined): void {
  for (const name of ['bee', 'cat']) cluster.shape('ant', name, bytesPerSecond === undefined ? {} : { bytesPerSecond });
}

const reportOf = async (member: Member, path: string) =>
  pathReportSchema.parse(await member.get(`/paths/${encodeURIComponent(path)}`));

/** Makes ant write large files and stops it before any other member has fetched one of them. */
async function writeAndGo(
  cluster: Cluster,
  ant: Member,
  paths: readonly string[],
  go: () => Promise<unknown> = () => ant.kill(),
): Promise<void> {
  cluster.links('ant', 'cut');
  for (const name of ['bee', 'cat']) await cluster.apart('ant', name);
  for (const path of paths) {
    await mkdir(join(ant.path(path), '..'), { recursive: true });
    // The file gets its name when it is complete: no agent sees it empty.
    await writeFile(join(cluster.root, 'draft'), randomBytes(3_000_000));
    await rename(join(cluster.root, 'draft'), ant.path(path));
  }
  await ant.rescan();
  // All operations are sent in one message, before any content.
  slowDown(cluster, 40_000);
  cluster.links('ant', 'open');
  for (const member of cluster.members.filter(({ name }) => name !== 'ant')) {
    for (const path of paths) {
      await vi.waitFor(async () => {
        const { heads, pending } = await reportOf(member, path);
        expect([heads.at(0)?.size, pending]).toEqual([3_000_000, true]);
      }, patience);
    }
  }
  await go();
  slowDown(cluster, undefined);
}

/** Removes all files and the journal of a member. Only its identity and the addresses of the others are left. */
async function loseDisk(member: Member): Promise<void> {
  for (const name of await readdir(member.folder)) {
    if (name !== '.lockstep') await rm(member.path(name), { recursive: true });
  }
  for (const name of await readdir(member.state())) {
    if (/^(journal\.db|history|staging|cookies)/.test(name)) await rm(member.state(name), { recursive: true });
  }
}

async function lostEvents(members: readonly Member[]): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (const member of members) {
    const { events } = (await member.get('/events?after=0&limit=1000')) as {
      events: { kind: string; data: unknown }[];
    };
    found.push(...events.filter(({ kind }) => kind === 'content-lost').map(({ data }) => data));
  }
  return found;
}

/** Waits until no content is a problem. Tests that follow each other quickly cut sessions so often that these count as failing. */
async function untilQuiet(members: readonly Member[]): Promise<void> {
  await vi.waitFor(async () => {
    for (const member of members) {
      const problems = await member.problems();
      const left = problems.filter((code) => code !== 'session-failing');
      expect(left, member.name).toEqual([]);
    }
  }, patience);
}

test('[CT14] [CT15] a file that its writer lost with disk and journal, before any other member had it, is deleted', async () => {
  const { cluster, ant, others, added } = await openScene();
  // Like a program that creates a file and writes it later: the others have the empty file.
  await writeFile(ant.path('begun'), '');
  await cluster.settled();
  await writeAndGo(cluster, ant, ['begun', 'd/whole']);
  await loseDisk(ant);
  // No member has it in memory either.
  for (const member of others) await member.restart();
  await ant.start();
  await cluster.connected();
  await vi.waitFor(async () => {
    for (const member of cluster.members) {
      for (const path of ['begun', 'd/whole']) {
        const { heads } = await reportOf(member, path);
        expect(
          heads.map(({ kind }) => kind),
          `${path} on ${member.name}`,
        ).toEqual(['delete']);
      }
    }
  }, patience);
  expect(added(await cluster.settled())).toEqual(['d']);
  expect(await lostEvents(cluster.members)).toContainEqual(expect.objectContaining({ path: 'begun', name: 'ant' }));
  await untilQuiet(cluster.members);
  await cluster.verified();
});

test('[CT14] an older version on a disk is not deleted: a person decides', async () => {
  const { cluster, ant, others, added } = await openScene();
  await writeFile(ant.path('file'), 'the older version');
  await cluster.settled();
  await writeAndGo(cluster, ant, ['file']);
  await loseDisk(ant);
  await ant.start();
  await cluster.connected();
  const [bee] = others;
  await vi.waitFor(async () => {
    const { detail = '' } = (await bee.status()).problems.find(({ code }) => code === 'content-missing') ?? {};
    expect(detail).toContain('No remaining member has it');
  }, patience);
  for (const { path } of others.map((member) => ({ path: member.path('file') })))
    expect(await readFile(path, 'utf8')).toBe('the older version');
  await writeFile(bee.path('file'), 'what the person decided');
  expect(added(await cluster.settled())).toEqual(['file']);
  expect(await readFile(ant.path('file'), 'utf8')).toBe('what the person decided');
  await untilQuiet(cluster.members);
});

test.each([
  {
    how: 'leaves',
    go: async (ant: Member, _: Member, path: string) => {
      const refused = await lockstep(['leave', ant.folder]);
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`is on this member only: ${path}. Wait`) });
      expect(await lockstep(['leave', '--anyway', ant.folder])).toMatchObject({ code: 0 });
      await ant.ended();
    },
    comeBack: (ant: Member) => ant.start({ args: ['--rejoin'] }),
  },
  {
    how: 'is removed',
    go: async (ant: Member, bee: Member) => {
      await ant.kill();
      await vi.waitFor(async () => expect((await lockstep(['remove', 'ant', bee.folder])).code).toBe(0), patience);
    },
    comeBack: async (ant: Member, bee: Member) => {
      await lockstep(['remove', '--undo', 'ant', bee.folder]);
      await ant.start();
    },
  },
])(
  '[CT14] a file whose writer $how before any other member had it comes back with the writer',
  async ({ how, go, comeBack }) => {
    const path = `whole of one that ${how}`;
    const { cluster, ant, others, added } = await openScene();
    const [bee] = others;
    await writeAndGo(cluster, ant, [path], () => go(ant, bee, path));
    const written = await readFile(ant.path(path));
    for (const member of others) {
      await vi.waitFor(async () => {
        const { problems } = await member.status();
        expect(problems).toMatchObject([{ path, detail: expect.stringContaining('ant may have it') }]);
      }, patience);
    }
    await comeBack(ant, bee);
    await cluster.connected();
    expect(added(await cluster.settled())).toEqual([path]);
    for (const member of cluster.members) expect((await readFile(member.path(path))).equals(written)).toBe(true);
    await untilQuiet(cluster.members);
  },
);

test('[CT13] a conflict is joined without the version that every member lacks, once its writer is back', async () => {
  const { cluster, ant, others, added } = await openScene();
  const [bee, cat] = others;
  await writeFile(bee.path('contested'), 'before');
  await cluster.settled();
  cluster.links('ant', 'cut');
  for (const { name } of others) await cluster.apart('ant', name);
  await writeFile(bee.path('contested'), 'by bee');
  await writeFile(join(cluster.root, 'draft'), randomBytes(3_000_000));
  await rename(join(cluster.root, 'draft'), ant.path('contested'));
  for (const member of [ant, bee]) await member.rescan();
  slowDown(cluster, 40_000);
  cluster.links('ant', 'open');
  for (const member of others) {
    await vi.waitFor(async () => expect((await reportOf(member, 'contested')).heads).toHaveLength(2), patience);
  }
  await ant.kill();
  slowDown(cluster, undefined);
  await loseDisk(ant);
  await ant.start();
  await cluster.connected();
  expect(added(await cluster.settled())).toEqual(['contested']);
  for (const member of cluster.members) expect(await readFile(member.path('contested'), 'utf8')).toBe('by bee');
  expect(await lostEvents([ant, bee, cat])).toContainEqual(expect.objectContaining({ path: 'contested', name: 'ant' }));
  await untilQuiet(cluster.members);
  await cluster.verified();
});

test('[CT12] each remedy in the runbook resolves a missing content while its writer is away', async () => {
  const { cluster, ant, others, added } = await openScene();
  for (const name of ['written again', 'deleted']) await writeFile(ant.path(name), 'the older version');
  await cluster.settled();
  const paths = ['written again', 'deleted', 'fresh', 'gone/with its directory', 'put again'];
  await writeAndGo(cluster, ant, paths);
  const [bee, cat] = others;
  await vi.waitFor(async () => {
    const { problems } = await bee.status();
    const missing = problems.filter(({ code }) => code === 'content-missing').map(({ path }) => path);
    expect(missing.sort()).toEqual(paths.toSorted());
  }, patience);
  await writeFile(bee.path('written again'), 'from a backup');
  await writeFile(bee.path('put again'), 'from a backup');
  await unlink(bee.path('deleted'));
  await rm(bee.path('gone'), { recursive: true });
  await writeFile(bee.path('fresh'), '');
  await bee.rescan();
  await unlink(bee.path('fresh'));
  expect(added(await cluster.settled([bee, cat], 60_000, 2))).toEqual(['put again', 'written again']);
  await untilQuiet(others);
  for (const member of others) {
    expect(await readFile(member.path('written again'), 'utf8')).toBe('from a backup');
    for (const path of ['deleted', 'fresh', 'gone/with its directory'])
      expect((await reportOf(member, path)).heads.map(({ kind }) => kind)).toEqual(['delete']);
  }
});

test('[CT14] a directory that is renamed on demand while a user overwrites its file elsewhere is settled', async () => {
  const cluster = await startCluster(['ant']);
  const [ant] = cluster.running as [Member];
  const cat = await addOnDemand(cluster, 'cat');
  await cluster.connected();
  await mkdir(ant.path('plans'));
  await writeFile(ant.path('plans', 'quay'), 'first'.repeat(30_000));
  await level(cat, ant);
  expect(await lockstep(['pause', cat.folder])).toMatchObject({ code: 0 });
  await writeFile(ant.path('plans', 'quay'), 'second'.repeat(30_000));
  await rename(cat.path('plans'), cat.path('drawings'));
  expect(await lockstep(['resume', cat.folder])).toMatchObject({ code: 0 });
  await vi.waitFor(async () => {
    const report = pathReportSchema.parse(await ant.get('/paths/drawings/quay'));
    expect(report.heads.map(({ kind }) => kind)).toEqual(['delete']);
  }, patience);
  await ant.wait({ for: 'all', timeoutMs: 60_000 });
  await vi.waitFor(async () => expect(await ant.problems()).toEqual([]), patience);
  expect(await read(cat, 'plans/quay')).toBe('second'.repeat(30_000));
});
