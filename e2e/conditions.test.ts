import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Cluster } from '../testkit/cluster.ts';
import { lockstep } from '../testkit/member.ts';
import { repositoryRoot } from '../testkit/repository.ts';
import { expect, test } from './test.ts';

/** The texts about a member in one condition: a row of the table in docs/DASHBOARD.md. */
interface Row {
  readonly condition: string;
  readonly sentence: string;
  readonly row: string;
  readonly matrix: string;
  readonly status: string;
  readonly wait: string;
}

const roundTrip = 'a round trip';
const done = 'done';

async function readTable(): Promise<readonly Row[]> {
  const text = await readFile(join(repositoryRoot, 'docs/DASHBOARD.md'), 'utf8');
  const section = text.slice(text.indexOf('## What each condition looks like'));
  const lines = section.slice(0, section.indexOf('\n## Overview')).split('\n');
  const rows = lines.filter((line) => line.startsWith('| ')).slice(2);
  return rows.map((line) => {
    const [condition = '', sentence = '', row = '', matrix = '', status = '', wait = ''] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    return { condition, sentence, row, matrix, status, wait };
  });
}

/** How the pair of ant and cat gets into each condition, each from the one above it. */
const acts: Readonly<Record<string, (cluster: Cluster) => Promise<unknown>>> = {
  active: (cluster) => cluster.connected(),
  'cut off': async (cluster) => cluster.link('ant', 'cat', 'cut'),
  paused: async (cluster) => {
    cluster.link('ant', 'cat', 'open');
    await cluster.connected();
    await lockstep(['pause', cluster.member('cat').folder]);
  },
  'shut down': async (cluster) => {
    const cat = cluster.member('cat');
    await lockstep(['resume', cat.folder]);
    await cluster.connected();
    await cat.stop();
  },
  away: async (cluster) => {
    const cat = cluster.member('cat');
    await cat.start({ args: ['--may-be-away'] });
    await cluster.connected();
    await cluster.settled();
    await cat.kill();
  },
  'catching up': async (cluster) => {
    // The mark is taken away by a start without it.
    await cluster.member('cat').start();
    await cluster.connected();
    await cluster.settled();
    await cluster.member('cat').stop();
    // No block is like another one: each has to be transferred.
    await writeFile(cluster.member('ant').path('large'), randomBytes(20_000_000));
    await cluster.settled([cluster.member('ant'), cluster.member('bee')]);
    cluster.shapes('cat', { bytesPerSecond: 200_000 });
    await cluster.member('cat').start({ ready: false });
  },
  silent: async (cluster) => {
    const cat = cluster.member('cat');
    if (!cat.running) await cat.start({ ready: false });
    const isConnected = async () =>
      (await cluster.member('ant').status()).members.find(({ name }) => name === 'cat')?.connected;
    await expect.poll(isConnected).toBe(true);
    await cat.kill();
  },
  down: async () => undefined,
  'not known yet': async (cluster) => {
    await cluster.member('ant').stop();
    await cluster.member('ant').start();
  },
};

/** The conditions that last for ten seconds. A busy machine may miss one: then the pair gets into it once more. */
const brief: readonly string[] = ['silent', 'not known yet'];
const briefMs = 12_000;

/** The pages of ant that show the condition of cat. */
interface Pages {
  readonly overview: Page;
  readonly latency: Page;
}

/** Checks what the pages of ant and `status` say of cat: all at once, because a condition may last for seconds. */
async function check({ overview, latency }: Pages, cluster: Cluster, said: Row): Promise<void> {
  const row = overview.getByRole('row').filter({ has: overview.getByRole('rowheader', { name: 'cat' }) });
  const words = said.matrix === roundTrip ? '[\\d.,]+ m?s.*' : said.matrix;
  const status = async (): Promise<string> => (await lockstep(['status', cluster.member('ant').folder])).out;
  const patience = brief.includes(said.condition) ? { timeout: briefMs } : {};
  await Promise.all([
    expect(latency.getByRole('link', { name: new RegExp(`^ant to cat: ${words}$`) })).toBeVisible(patience),
    expect(overview.getByRole('status')).toContainText(said.sentence, patience),
    expect(row).toContainText(said.row, patience),
    expect.poll(status, patience).toMatch(new RegExp(`${escaped(said.sentence)}[\\s\\S]*^cat .* ${said.status}`, 'm')),
  ]);
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Checks what `wait` on ant says of cat. */
async function checkWait(cluster: Cluster, said: Row): Promise<void> {
  const ant = cluster.member('ant');
  if (said.wait === done) {
    // Nothing waits for a member that has everything.
    expect((await ant.wait({ for: 'all' })).done).toBe(true);
    expect(await lockstep(['wait', ant.folder, '--timeout', '60'])).toMatchObject({ code: 0 });
    return;
  }
  await ant.put(`written while ${said.condition}`, 'text');
  // The other member must have it first: until then the wait is for that one, too.
  expect((await ant.wait({ for: 2 })).done).toBe(true);
  const wait = await lockstep(['wait', ant.folder, '--timeout', '1']);
  expect(wait.code, wait.out).toBe(1);
  expect(wait.out + wait.err).toContain(said.wait);
}

test.use({ proxied: true });

test('[DB-A14] the page, status and wait say the same of each condition of a member', async ({ page, cluster }) => {
  // Longer than some conditions that are missed.
  test.setTimeout(400_000);
  const matrixPage = await page.context().newPage();
  const { url } = cluster.member('ant');
  await page.goto(url);
  await matrixPage.goto(`${url}latency`);
  const table = await readTable();
  expect(table.map(({ condition }) => condition)).toEqual(Object.keys(acts));
  for (const said of table) {
    await test.step(said.condition, async () => {
      const see = async () => {
        await acts[said.condition]?.(cluster);
        await check({ overview: page, latency: matrixPage }, cluster, said);
      };
      if (brief.includes(said.condition)) await expect(see).toPass();
      else await see();
      await checkWait(cluster, said);
    });
  }
});
