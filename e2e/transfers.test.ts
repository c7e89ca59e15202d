import { randomBytes } from 'node:crypto';
import { access, appendFile, copyFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Locator } from '@playwright/test';
import { expect, test } from './test.ts';

/** Chooses an item of the menu with the keyboard. */
async function choose(menu: Locator, item: Locator): Promise<void> {
  await menu.focus();
  await menu.press('Enter');
  await item.focus();
  await item.press('Enter');
}

test.describe('two members', () => {
  test.use({ names: ['ant', 'bee'], proxied: true });

  test('[DB-X1] [DB-X2] a member can be paused, resumed, rescanned and made to retry from its page', async ({
    page,
    cluster,
    pageErrors,
  }) => {
    const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
    const sentence = page.locator('[data-tone]');
    const menu = page.getByRole('button', { name: 'Actions' });
    const item = (name: string) => page.getByRole('menuitem', { name });
    const result = page.getByRole('status').filter({ has: page.getByRole('button', { name: 'Close' }) });
    await page.goto(`${ant.url}transfers`);
    await expect(page.getByRole('heading', { name: 'Everything is here' })).toBeVisible();
    await expect(page.getByRole('table', { name: 'Between ant and the others' })).toContainText('bee');

    await test.step('the pause asks first, and holds back changes by the others', async () => {
      await choose(menu, item('Pause ant'));
      await expect(page.getByRole('dialog')).toContainText('ends its session with the other member');
      await page.getByRole('button', { name: 'Do not pause' }).click();
      await expect(page.getByRole('dialog')).toBeHidden();
      expect((await ant.status()).paused).toBe(false);
      await choose(menu, item('Pause ant'));
      await page.getByRole('button', { name: 'Pause ant' }).click();
      await expect(result).toContainText('ant is paused.');
      await expect(sentence).toContainText('ant is paused: it takes nothing from the others');
      await expect(page.getByRole('heading', { name: 'Nothing moves: ant is paused' })).toBeVisible();
      await expect
        .poll(async () => (await bee.status()).members.some(({ condition }) => condition === 'paused'))
        .toBe(true);
      await writeFile(join(bee.folder, 'held.txt'), 'held\n');
      await expect.poll(async () => (await bee.status()).files).toBe(1);
      await expect(access(join(ant.folder, 'held.txt'))).rejects.toThrow();
    });

    await test.step('its own problems and its row say that it is paused, and since when', async () => {
      const own = await page.context().newPage();
      await own.goto(`${ant.url}problems`);
      await expect(own.getByRole('heading', { name: 'ant is paused' })).toBeVisible();
      await expect(own.getByText('Nothing needs your attention')).toBeHidden();
      const { members } = await ant.status();
      const [self] = members.filter(({ self }) => self);
      expect(self?.stateSince).toBeGreaterThan(self?.enabledAt ?? Number.POSITIVE_INFINITY);
      await own.close();
    });

    await test.step('the others say that it is paused', async () => {
      const other = await page.context().newPage();
      await other.goto(bee.url);
      await expect(other.locator('[data-tone]')).toContainText('ant is paused');
      await other.close();
    });

    await test.step('once it is resumed, the file arrives', async () => {
      await choose(menu, item('Resume ant'));
      await expect(result).toContainText('ant is resumed.');
      await expect
        .poll(() =>
          access(join(ant.folder, 'held.txt')).then(
            () => 'here',
            () => 'missing',
          ),
        )
        .toBe('here');
      await expect(sentence).toContainText('Both members hold everything.');
      await expect(page.getByRole('heading', { name: 'Everything is here' })).toBeVisible();
    });

    await choose(menu, item('Rescan the folder'));
    await expect(result).toContainText(/The whole folder was compared in .+: nothing had been missed\./);
    await choose(menu, item('Retry now'));
    await expect(result).toContainText('No path was waiting.');
    await page.getByRole('button', { name: 'Close' }).click();
    await expect(result).toBeHidden();
    expect(pageErrors).toEqual([]);
  });

  test('[DB-X3] a large file on its way is shown with its source and progress', async ({
    page,
    cluster,
    pageErrors,
  }) => {
    const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
    await page.goto(`${ant.url}transfers`);
    await expect(page.getByRole('heading', { name: 'Everything is here' })).toBeVisible();
    // The transfer would take two minutes, so that any machine shows it on its way; then the link is made fast.
    cluster.shapes('ant', { bytesPerSecond: 500_000 });
    // The file appears whole: otherwise the page may also show a transfer of its half-written content.
    await writeFile(`${bee.folder}-film`, randomBytes(60_000_000));
    await rename(`${bee.folder}-film`, join(bee.folder, 'film.mkv'));
    const row = page.getByRole('listitem').filter({ hasText: 'film.mkv' });
    await expect(row).toContainText('from bee');
    await expect(row).toContainText(/B of 60 MB/);
    await expect(row.getByRole('progressbar')).toBeVisible();
    const totals = page.getByRole('region', { name: 'Totals' });
    await expect(totals).toContainText(/Still to come to ant[\d.]+ MB[\d.]+ [kM]B\/s, .+ left/);
    await expect(totals).toContainText('Still to come to the othersnothing');

    await test.step('[DB-X5] the sender says what leaves, and when the other will have it', async () => {
      const sender = await page.context().newPage();
      await sender.goto(`${bee.url}transfers`);
      const leaving = sender.getByRole('region', { name: '1 file on the way from bee' }).getByRole('listitem');
      await expect(leaving).toContainText('film.mkv');
      await expect(leaving).toContainText('to ant');
      await expect(leaving).toContainText(/B of 60 MB/);
      await expect(sender.getByRole('region', { name: 'Totals' })).toContainText(
        /Still to come to the others[\d.]+ MB[\d.]+ [kM]B\/s from bee, .+ left/,
      );
      const ants = sender.getByRole('region', { name: '1 member catching up' }).getByRole('listitem');
      await expect(ants).toContainText(/B of 60 MB, [\d.]+ [kM]B\/s, .+ left/);
      await expect(sender.getByRole('heading', { name: 'Everything is here' })).toBeHidden();
      await sender.goto(bee.url);
      const behind = sender.getByRole('row').filter({ hasText: 'ant' });
      await expect(behind).toContainText(/B of 60 MB/);
      await sender.close();
    });
    cluster.shapes('ant', { bytesPerSecond: Number.POSITIVE_INFINITY });
    await expect(page.getByRole('heading', { name: 'Everything is here' })).toBeVisible();
    // Its bytes are in the folder: a copy is not sent.
    await copyFile(join(bee.folder, 'film.mkv'), `${bee.folder}-film`);
    await rename(`${bee.folder}-film`, join(bee.folder, 'copy.mkv'));
    await expect(totals).toContainText(/Did not have to be sent here[\d.]+ MBsince ant started/);
    expect(pageErrors).toEqual([]);
  });
});

test.describe('one member', () => {
  test.use({ names: ['ant'] });

  test('[CL27] a file that grows is listed as changing, until it is still', async ({ page, cluster, pageErrors }) => {
    const ant = cluster.member('ant');
    await page.goto(`${ant.url}transfers`);
    await expect(page.getByRole('heading', { name: 'Everything is here' })).toBeVisible();
    let isGrowing = true;
    const written = (async () => {
      for (; isGrowing; await pause(5)) await appendFile(join(ant.folder, 'film.mkv'), randomBytes(65_536));
    })();
    try {
      const changing = page.getByRole('region', { name: '1 file changing on ant' }).getByRole('listitem');
      await expect(changing).toContainText('film.mkv');
      await expect(page.getByRole('heading', { name: 'Everything is here' })).toBeHidden();
    } finally {
      isGrowing = false;
      await written;
    }
    await expect(page.getByRole('heading', { name: 'Everything is here' })).toBeVisible();
    expect(pageErrors).toEqual([]);
  });
});

test.describe('a slow link', () => {
  test.use({ proxied: true });

  test('[DB-X4] a newcomer is shown with its source until it has everything', async ({ page, cluster, pageErrors }) => {
    const [ant, bee, cat] = [cluster.member('ant'), cluster.member('bee'), cluster.member('cat')];
    await cat.stop();
    await mkdir(join(ant.folder, 'many'));
    // More than the link transfers while the page is checked, and not compressible.
    for (let file = 0; file < 300; file++)
      await writeFile(join(ant.folder, 'many', `file-${file}`), randomBytes(100_000));
    await expect.poll(async () => (await bee.status()).files).toBe(300);
    await page.goto(`${ant.url}transfers`);
    await expect(page.getByRole('heading', { name: 'Everything is here' })).toBeVisible();
    // At the speed that the files are given, the operations have come before the page can show it.
    cluster.shapes('cat', { bytesPerSecond: 10_000 });
    const back = cat.start();
    // The files on their way to it are list items, too.
    const row = page.locator('section[aria-labelledby=resyncs]').getByRole('listitem').filter({ hasText: 'cat' });
    await expect(row).toContainText(/the operations come from (ant|bee)/);
    cluster.shapes('cat', { bytesPerSecond: 400_000 });
    await expect(row).toContainText(/B of 30 MB/);
    await expect(row.getByRole('progressbar')).toBeVisible();
    // A screen reader does not read numbers that change every second.
    await expect(page.locator('[data-tone="busy"]')).toHaveAttribute('aria-live', 'off');
    cluster.shapes('cat', { bytesPerSecond: Number.POSITIVE_INFINITY });
    await back;
    await expect(page.getByRole('heading', { name: 'Everything is here' })).toBeVisible();
    expect(pageErrors).toEqual([]);
  });
});
