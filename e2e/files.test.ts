import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { expect, test } from './test.ts';

const shell = (folder: string, script: string) => promisify(execFile)('sh', ['-c', script], { cwd: folder });

const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });

/** The links of the rows in sight, in their order. */
const names = (page: Page) => page.locator('[data-row]');

test('[DB-F1] [DB-F3] [DB-F4] a user finds a file, its holders and its history', async ({
  page,
  cluster,
  pageErrors,
}) => {
  const [ant, bee, cat] = ['ant', 'bee', 'cat'].map((name) => cluster.member(name));
  if (!ant || !bee || !cat) throw new Error('three members are started');
  await mkdir(join(bee.folder, 'reports', '2026'), { recursive: true });
  await bee.put('reports/2026/summary.txt', 'first\n');

  await bee.put('a note.txt', 'after the directory');

  await page.goto(`${ant.url}files`);
  await expect(row(page, 'reports')).toContainText('3 of 3');
  await expect(names(page)).toHaveText(['reports', 'a note.txt']);
  await page.getByRole('link', { name: 'reports' }).click();
  await page.getByRole('link', { name: '2026' }).click();
  await expect(row(page, 'summary.txt')).toContainText('bee');
  await page.getByRole('link', { name: 'summary.txt' }).click();
  await expect(page).toHaveURL(`${ant.url}files/reports/2026/summary.txt`);
  const panel = page.getByRole('region', { name: 'About reports/2026/summary.txt' });
  await expect(panel.getByRole('heading', { name: 'Held by 3 of 3 members' })).toBeVisible();
  await expect(panel.getByRole('listitem').filter({ hasText: 'Written by bee' })).toHaveCount(1);

  await test.step('[DB-F8] the file can be opened in a tab of its own, and downloaded', async () => {
    const opening = page.context().waitForEvent('page');
    await panel.getByRole('link', { name: 'Open' }).click();
    const opened = await opening;
    await expect(opened.locator('body')).toHaveText('first');
    await opened.close();
    const downloading = page.waitForEvent('download');
    await panel.getByRole('link', { name: 'Download' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('summary.txt');
    expect(await readFile(await download.path(), 'utf8')).toBe('first\n');
  });

  await test.step('[DB-F8] a file of several blocks, too large to be opened, is downloaded whole', async () => {
    const film = randomBytes(3_500_000);
    await bee.put('reports/2026/film.bin', film);
    await page.getByRole('link', { name: 'film.bin' }).click();
    const about = page.getByRole('region', { name: 'About reports/2026/film.bin' });
    await expect(about.getByRole('heading', { name: 'Held by 3 of 3 members' })).toBeVisible();
    await expect(about.getByRole('link', { name: 'Open', exact: true })).toHaveCount(0);
    const downloading = page.waitForEvent('download');
    await about.getByRole('link', { name: 'Download', exact: true }).click();
    expect((await readFile(await (await downloading).path())).equals(film)).toBe(true);
    await rm(join(bee.folder, 'reports', '2026', 'film.bin'));
    await page.goBack();
    await expect(row(page, 'film.bin')).toHaveCount(0);
  });

  await test.step('a stopped member does not hold what is written meanwhile, and is named', async () => {
    await cat.stop();
    await ant.put('reports/2026/summary.txt', 'second, longer\n');
    await expect(panel.getByRole('heading', { name: 'Held by 2 of 3 members' })).toBeVisible();
    await expect(panel.getByRole('listitem').filter({ hasText: 'cat' }).first()).toContainText('not yet');
    await expect(panel).toContainText('cat is shut down.');
    await expect(panel.getByRole('listitem').filter({ hasText: 'Changed by ant' })).toHaveCount(1);
    await expect(row(page, 'summary.txt')).toContainText('2 of 3');
    await expect(row(page, 'summary.txt').getByTitle('Not yet on cat')).toBeVisible();
    await cat.start();
    await expect(panel.getByRole('heading', { name: 'Held by 3 of 3 members' })).toBeVisible();
    await expect(row(page, 'summary.txt')).toContainText('3 of 3');
  });

  await test.step('[DB-F7] directories have sizes, and the list is sorted by name, size and time', async () => {
    await bee.put('reports/large.bin', 'x'.repeat(5_000));
    await page.goto(`${ant.url}files`);
    await expect(row(page, 'reports')).toContainText('5 kB');
    // Seen after the other one, and thus newer: changes that are found together are in the order of their paths.
    await bee.put('empty.txt', '');
    await expect(row(page, 'empty.txt')).toBeVisible();
    const order = (name: string) => page.getByRole('columnheader').getByRole('button', { name });
    await order('Size').click();
    await expect(names(page)).toHaveText(['reports', 'a note.txt', 'empty.txt']);
    await expect(page).toHaveURL(/sort=size$/);
    await order('Size').click();
    await expect(names(page)).toHaveText(['empty.txt', 'a note.txt', 'reports']);
    await expect(page.getByRole('columnheader', { name: 'Size' })).toHaveAttribute('aria-sort', 'ascending');
    await page.reload();
    await expect(names(page)).toHaveText(['empty.txt', 'a note.txt', 'reports']);
    await order('When').click();
    await expect(names(page).first()).toHaveText('empty.txt');
    await names(page).filter({ hasText: 'reports' }).click();
    await expect(page).toHaveURL(`${ant.url}files/reports?sort=time`);
    await expect(names(page)).toHaveText(['large.bin', '2026']);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByLabel('Order').selectOption('Name');
    await expect(names(page)).toHaveText(['2026', 'large.bin']);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  await test.step('[DB-F5] a search covers all directories', async () => {
    await page.getByRole('searchbox').fill('SUMM');
    await expect(names(page)).toHaveText(['summary.txt']);
    await expect(row(page, 'summary.txt')).toContainText('in reports/2026');
    await page.getByRole('searchbox').fill('no such name');
    await expect(page.getByText('No name contains “no such name”')).toBeVisible();
  });
  expect(pageErrors).toEqual([]);
});

test.describe('one member', () => {
  test.use({ names: ['ant'] });

  test('[DB-F1] [DB-F6] a directory of 10,000 entries scrolls, and can be used with the keyboard alone', async ({
    page,
    cluster,
    pageErrors,
  }) => {
    const ant = cluster.member('ant');
    await shell(ant.folder, 'mkdir -p many/00-first; seq -w 1 10000 | sed "s|^|many/f|" | xargs touch');
    await expect.poll(async () => (await ant.status()).files, { timeout: 60_000 }).toBe(10_000);
    await page.goto(`${ant.url}files/many`);
    await expect(page.getByText('10,001 entries')).toBeVisible();
    await expect(names(page).first()).toHaveText('00-first');
    expect(await names(page).count()).toBeLessThan(60);

    await names(page).first().focus();
    await page.keyboard.press('ArrowDown');
    await expect(page.getByRole('link', { name: 'f00001', exact: true })).toBeFocused();
    await page.keyboard.press('End');
    await expect(page.getByRole('link', { name: 'f10000', exact: true })).toBeFocused();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(`${ant.url}files/many/00-first`);
    await expect(page.getByText('Nothing is in here')).toBeVisible();
    await page.goBack();
    await names(page).nth(2).focus();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('region', { name: 'About many/f00002' })).toBeVisible();
    await expect(page.getByRole('link', { name: 'f00002', exact: true })).toBeFocused();
    await page.keyboard.press('Backspace');
    await expect(page.getByRole('link', { name: 'many', exact: true })).toBeFocused();

    await test.step('[DB-F2] the address of an entry far down shows it', async () => {
      await page.goto(`${ant.url}files/many/f07654`);
      const link = page.getByRole('link', { name: 'f07654', exact: true });
      await expect(link).toBeInViewport();
      await expect(link).toHaveAttribute('aria-current', 'true');
    });
    expect(pageErrors).toEqual([]);
  });

  test('[DB-F7] [DB-A10] the least size of a directory that is too large to be counted is whole in its column', async ({
    page,
    cluster,
    pageErrors,
  }) => {
    const ant = cluster.member('ant');
    await mkdir(join(ant.folder, 'many'));
    await expect.poll(async () => (await ant.status()).directories).toBe(1);
    await page.route('**/api/v1/tree?*', async (route) => {
      const response = await route.fetch();
      const listing = await response.json();
      for (const entry of listing.entries) Object.assign(entry, { size: 388_888_888, sizePartial: true });
      await route.fulfill({ response, json: listing });
    });
    await page.goto(`${ant.url}files`);
    const size = page.getByRole('cell', { name: 'over 389 MB' });
    await expect(size).toBeVisible();
    expect(await size.evaluate((cell) => cell.scrollWidth <= cell.clientWidth)).toBe(true);
    expect(pageErrors).toEqual([]);
  });

  test('[DB-F2] [DB-A4] the address of any name can be reopened, also on a telephone', async ({
    page,
    cluster,
    pageErrors,
  }) => {
    const ant = cluster.member('ant');
    const odd = ['100%', 'new\nline.txt', '🐜 ü?#&.txt', '.hidden', 'a.js'];
    await mkdir(join(ant.folder, 'odd %2F names'));
    for (const name of odd) await writeFile(join(ant.folder, 'odd %2F names', name), name);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${ant.url}files`);
    await page.getByRole('link', { name: 'odd %2F names' }).click();
    await expect(names(page)).toHaveCount(odd.length);
    for (const name of odd) {
      const link = names(page).and(page.getByTitle(name, { exact: true }));
      const address = await link.getAttribute('href');
      await link.click();
      const panel = page.getByRole('region', { name: `About odd %2F names/${name}`.replace('\n', ' ') });
      await expect(panel).toBeVisible();
      expect(new URL(page.url()).pathname).toBe(address);
      await page.reload();
      await expect(panel.getByText('has it', { exact: true })).toBeVisible();
      await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
      await page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'odd %2F names' }).click();
    }
    await page.goto(`${ant.url}files/nowhere/to be found`);
    await expect(page.getByText('Nothing is known about this path')).toBeVisible();
    await page.setViewportSize({ width: 1440, height: 900 });
    await expect(page.getByText('An empty folder, or there is no folder of this name.')).toBeVisible();
    expect(pageErrors).toEqual([]);
  });
});
