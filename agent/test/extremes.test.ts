import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync } from 'node:fs';
import { lutimes, mkdir, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileTimeUsMax } from '@lockstep/shared';
import {
  apiPrefix,
  operationsPageSchema,
  pathReportSchema,
  searchResultSchema,
  treePageSchema,
} from '@lockstep/shared/api';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { z } from 'zod';
import { Cluster } from '../../testkit/cluster.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { SqliteDatabase } from '../src/os/sqlite.ts';

/** In milliseconds: long enough for a machine that is busy with other tests. */
const patience = 20_000;

/** File times in seconds: one by a program that mistakes milliseconds for seconds, and others beyond the range of the wire. */
const times: Readonly<Record<string, number>> = {
  'milliseconds.txt': 1_763_730_000_000,
  'year-2286.txt': 10_000_000_000,
  'year-2446.txt': 15_032_385_535,
  'before-1970.txt': -86_400,
  'year-1901.txt': -2_147_483_648,
  'fraction.txt': -0.5,
};

async function startCluster(names: readonly string[]): Promise<Cluster> {
  const cluster = await Cluster.start(names);
  onTestFinished(() => cluster.close());
  return cluster;
}

async function ask<T>(member: Member, path: string, schema: z.ZodType<T>): Promise<T> {
  const response = await member.fetch(apiPrefix + path);
  const body: unknown = await response.json();
  expect([path, response.status, body]).toEqual([path, 200, expect.anything()]);
  return schema.parse(body);
}

/** Checks that both are synchronised and have no problem. */
async function agree(...members: readonly Member[]): Promise<void> {
  await vi.waitFor(
    async () => {
      for (const member of members) {
        const { synchronised, problems } = await member.status();
        expect([member.name, synchronised, problems]).toEqual([member.name, true, []]);
      }
    },
    { timeout: 60_000, interval: 200 },
  );
}

function mtimeOf(path: string): number {
  return lstatSync(path).mtimeMs;
}

async function operationsOf(members: readonly Member[]): Promise<readonly number[]> {
  return Promise.all(members.map(async (member) => (await member.status()).operations));
}

describe('[LC20] file times beyond the range of operations', () => {
  test('are replaced by the nearest valid time, block nothing, and are shown by every command and page', async () => {
    const cluster = await startCluster(['ant', 'bee']);
    const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
    await mkdir(ant.path('times'));
    for (const [name, seconds] of Object.entries(times)) {
      await writeFile(ant.path('times', name), name);
      await utimes(ant.path('times', name), seconds, seconds);
    }
    await symlink('x', ant.path('times', 'link'));
    await lutimes(ant.path('times', 'link'), 10_000_000_000, 10_000_000_000);
    await writeFile(ant.path('times', 'after.txt'), 'after');
    expect((await ant.wait({ for: 'all' })).done).toBe(true);
    await agree(ant, bee);
    for (const name of Object.keys(times)) {
      const wanted = Math.min(mtimeOf(ant.path('times', name)), fileTimeUsMax / 1_000);
      expect([name, Math.abs(mtimeOf(bee.path('times', name)) - wanted) < 0.01]).toEqual([name, true]);
    }
    for (const member of [ant, bee]) {
      for (const name of Object.keys(times)) {
        await ask(member, `/paths/times/${name}`, pathReportSchema);
        const why = await lockstep(['why', member.path('times', name)]);
        expect([why.code, why.err]).toEqual([0, '']);
      }
      expect((await ask(member, '/tree?path=times', treePageSchema)).total).toBe(8);
      expect((await ask(member, '/search?name=txt', searchResultSchema)).entries).toHaveLength(7);
      expect((await ask(member, '/ops?path=times', operationsPageSchema)).operations.length).toBeGreaterThan(7);
      expect((await lockstep(['log', member.folder])).code).toBe(0);
    }
    // Neither a scan nor a start takes the clamped time for an edit.
    const before = await operationsOf([ant, bee]);
    for (const member of [ant, bee]) await member.rescan();
    await ant.restart();
    await bee.restart();
    await cluster.connected();
    await agree(ant, bee);
    expect(await operationsOf([ant, bee])).toEqual(before);
  });

  test('and more than 16 addresses in an old journal, which nothing checked, are sent in a form that is accepted', async () => {
    const cluster = await startCluster(['ant']);
    const ant = cluster.member('ant');
    await writeFile(ant.path('far.txt'), 'far');
    await ant.wait({ for: 1 });
    await ant.stop();
    const addresses = Array.from({ length: 40 }, (_, index) => `10.0.0.${index}:1`);
    const journal = new SqliteDatabase(ant.state('journal.db'));
    const update = journal.prepare("UPDATE ops SET mtime_us = 1763730000000000000 WHERE path = 'far.txt'");
    expect(update.run().changes).toBeGreaterThan(0);
    journal
      .prepare(
        'UPDATE ops SET member = json_set(member, \'$.addresses\', json(?)) WHERE member LIKE \'%"name":"ant"%\'',
      )
      .run(JSON.stringify([ant.address, ...addresses]));
    // As in a journal of an earlier schema, which has no chains: they are computed from the rows that are read.
    journal.prepare('UPDATE ops SET chain = NULL').run();
    journal.close();
    await ant.start();
    const bee = await cluster.add('bee');
    await cluster.connected();
    await writeFile(ant.path('after.txt'), 'after');
    expect((await ant.wait({ for: 'all' })).done).toBe(true);
    await agree(ant, bee);
    expect(mtimeOf(bee.path('far.txt'))).toBe(fileTimeUsMax / 1_000);
    const cat = await cluster.add('cat');
    await cluster.connected();
    await agree(ant, bee, cat);
  });

  const mayMount = process.getuid?.() === 0;

  test.skipIf(!mayMount)(
    'that the file system of another member cannot keep are not published by that one (needs root)',
    async () => {
      const cluster = await startCluster(['ant']);
      const ant = cluster.member('ant');
      const folder = join(cluster.root, 'old-disk');
      mkdirSync(folder);
      const image = join(cluster.root, 'disk.img');
      await writeFile(image, '');
      await truncate(image, 64 * 1_048_576);
      // Inodes of 128 bytes: times from 1901 to 2038.
      execFileSync('mkfs.ext4', ['-q', '-I', '128', image], { stdio: 'ignore' });
      execFileSync('mount', ['-o', 'loop', image, folder]);
      onTestFinished(() => void execFileSync('umount', ['-l', folder]), 60_000);
      await rm(join(folder, 'lost+found'), { recursive: true });
      const bee = await cluster.add('bee', { folder });
      onTestFinished(() => bee.kill());
      await cluster.connected();
      await writeFile(ant.path('far.txt'), 'far');
      await utimes(ant.path('far.txt'), 5_000_000_000, 5_000_000_000);
      expect((await ant.wait({ for: 'all' })).done).toBe(true);
      await agree(ant, bee);
      expect(mtimeOf(bee.path('far.txt'))).toBe(2_147_483_647_000);
      const before = await operationsOf([ant, bee]);
      await bee.restart();
      await cluster.connected();
      await bee.rescan();
      // Its change time is new, so the file is read again.
      execFileSync('chmod', ['600', bee.path('far.txt')]);
      await vi.waitFor(async () => expect((lstatSync(ant.path('far.txt')).mode & 0o777).toString(8)).toBe('600'), {
        timeout: 30_000,
      });
      await agree(ant, bee);
      expect(await operationsOf([ant, bee])).toEqual(before.map((count) => count + 1));
      expect(mtimeOf(ant.path('far.txt'))).toBe(5_000_000_000_000);
      await writeFile(ant.path('far.txt'), 'farther');
      await utimes(ant.path('far.txt'), 5_000_000_001, 5_000_000_001);
      expect((await ant.wait({ for: 'all' })).done).toBe(true);
      await agree(ant, bee);
      expect(mtimeOf(ant.path('far.txt'))).toBe(5_000_000_001_000);
      // The time alone: the file is not written again.
      const [written] = await operationsOf([ant]);
      await utimes(ant.path('far.txt'), 5_000_000_002.5, 5_000_000_002.5);
      await vi.waitFor(
        async () => expect(await operationsOf([ant, bee])).toEqual(Array(2).fill((written ?? 0) + 1)),
        patience,
      );
      expect((await ant.wait({ for: 'all' })).done).toBe(true);
      await bee.rescan();
      await agree(ant, bee);
      expect(await operationsOf([ant, bee])).toEqual(Array(2).fill((written ?? 0) + 1));
      expect(mtimeOf(ant.path('far.txt'))).toBe(5_000_000_002_500);
    },
  );
});
