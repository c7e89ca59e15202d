import type { Page } from '@playwright/test';
import type { Cluster } from '../testkit/cluster.ts';
import { alertOf } from './alerts.ts';
import { expect, test } from './test.ts';

/** The cell of the matrix for one direction. */
const cell = (page: Page, from: string, to: string) =>
  page.getByRole('grid').getByRole('link', { name: new RegExp(`^${from} to ${to}: `) });

async function open(page: Page, cluster: Cluster): Promise<void> {
  await page.goto(new URL('/latency', cluster.member('ant').url).href);
  await expect(page.getByRole('heading', { name: 'Latency', level: 1 })).toBeVisible();
}

test('[DB-L1] [DB-L2] the matrix has a number for each direction, and words for a member that is down', async ({
  page,
  cluster,
  pageErrors,
}) => {
  await open(page, cluster);
  for (const from of ['ant', 'bee', 'cat']) {
    for (const to of ['ant', 'bee', 'cat']) {
      if (from !== to) await expect(cell(page, from, to)).toHaveText(/^[\d.,]+ m?s$/);
    }
  }
  await cluster.member('cat').kill();
  for (const other of ['ant', 'bee']) {
    await expect(cell(page, other, 'cat')).toHaveAccessibleName(`${other} to cat: cat is down`);
    await expect(cell(page, 'cat', other)).toHaveAccessibleName(`cat to ${other}: cat is down`);
  }
  await expect(cell(page, 'ant', 'bee')).toHaveText(/^[\d.,]+ m?s$/);
  await cluster.member('cat').start();
  await expect(cell(page, 'bee', 'cat')).toHaveText(/^[\d.,]+ m?s$/);
  expect(pageErrors).toEqual([]);
});

test('[DB-L6] every figure says what it is, and one that is not measured any more is marked as old', async ({
  page,
  cluster,
  pageErrors,
}) => {
  const cat = cluster.member('cat');
  await open(page, cluster);
  await cell(page, 'ant', 'cat').click();
  const pair = page.getByRole('region', { name: 'ant to cat' });
  for (const word of ['now, smoothed', 'lowest sample', 'median sample', 'highest sample']) {
    await expect(pair.getByText(word, { exact: true })).toBeVisible();
  }
  const brief = { timeout: 12_000 };
  // Its sessions stay open for some seconds, in which it is silent. A busy machine may miss these: then it is silent once more.
  await expect(async () => {
    cat.signal('SIGCONT');
    await expect(cell(page, 'ant', 'cat')).toHaveText(/^[\d.,]+ m?s$/);
    await expect(cell(page, 'cat', 'bee')).toHaveText(/^[\d.,]+ m?s$/);
    cat.signal('SIGSTOP');
    await Promise.all([
      expect(cell(page, 'ant', 'cat')).toHaveAccessibleName(/ m?s, not measured for \d+ s$/, brief),
      expect(cell(page, 'ant', 'cat')).toHaveText(/^\(.+ m?s\)$/, brief),
      expect(cell(page, 'cat', 'bee')).toHaveAccessibleName(/ m?s, not measured for \d+ s$/, brief),
      expect(cell(page, 'ant', 'bee')).toHaveText(/^[\d.,]+ m?s$/, brief),
      expect(pair.getByText(/^smoothed, \d+ s ago$/)).toBeVisible(brief),
    ]);
  }).toPass();
  cat.signal('SIGCONT');
  await expect(cell(page, 'ant', 'cat')).toHaveText(/^[\d.,]+ m?s$/);
  await expect(pair.getByText('now, smoothed')).toBeVisible();
  expect(pageErrors).toEqual([]);
});

test('[DB-L3] [DB-L4] the keyboard alone reaches the chart of a pair, which has an address and updates itself', async ({
  page,
  cluster,
  pageErrors,
}) => {
  await open(page, cluster);
  await cell(page, 'ant', 'cat').focus();
  await page.keyboard.press('ArrowDown');
  await expect(cell(page, 'bee', 'cat')).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await expect(cell(page, 'bee', 'ant'), 'over the cell of a member with itself').toBeFocused();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  const pair = page.getByRole('region', { name: 'bee to cat' });
  await expect(
    pair.getByRole('img', { name: /^Round trip from bee to cat over the last .*: lowest sample .* median/ }),
  ).toBeVisible();
  await expect(pair).toContainText('As bee measures it');
  await expect(cell(page, 'bee', 'cat')).toHaveAttribute('aria-current', 'true');

  await page.reload();
  await expect(pair.locator('canvas')).toBeVisible();
  const shown = await pair.getByRole('img').getAttribute('aria-label');
  await expect(pair.getByRole('img')).not.toHaveAttribute('aria-label', shown ?? '');
  await pair.getByRole('link', { name: 'The other way' }).click();
  await expect(page.getByRole('region', { name: 'cat to bee' }).locator('canvas')).toBeVisible();

  await page.setViewportSize({ width: 390, height: 844 });
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  expect(pageErrors).toEqual([]);
});

test.describe('a link that is cut', () => {
  test.use({ proxied: true });

  test('[DB-L2] [DB-L5] every page shows that two members are cut off from each other, until the link is back', async ({
    page,
    cluster,
    pageErrors,
  }) => {
    const sentence = page.locator('[data-tone]');
    await open(page, cluster);
    await expect(cell(page, 'bee', 'cat')).toHaveText(/^[\d.,]+ m?s$/);
    cluster.link('bee', 'cat', 'cut');
    for (const [from, to] of [
      ['bee', 'cat'],
      ['cat', 'bee'],
    ] as const) {
      await expect(cell(page, from, to)).toHaveAccessibleName(`${from} to ${to}: cut off`);
    }
    await expect(cell(page, 'ant', 'cat')).toHaveText(/^[\d.,]+ m?s$/);
    await expect(alertOf(page, 'bee and cat have no session with each other')).toContainText('ant reaches both');
    await page.getByRole('link', { name: 'Overview' }).click();
    await expect(sentence).toHaveText('bee and cat are cut off from each other, and ant reaches both.');
    await page.getByRole('link', { name: /^Problems/ }).click();
    await expect(alertOf(page, 'bee and cat have no session with each other')).toBeVisible();

    await test.step('neither of the two shows the other one as down', async () => {
      await page.goto(cluster.member('bee').url);
      await expect(sentence).toHaveText('bee and cat are cut off from each other, and ant reaches both.');
    });

    cluster.link('bee', 'cat', 'open');
    await expect(sentence).toHaveText('All 3 members hold everything.');
    await open(page, cluster);
    await expect(cell(page, 'bee', 'cat')).toHaveText(/^[\d.,]+ m?s$/);
    await expect(page.getByRole('alert')).toHaveCount(0);
    expect(pageErrors).toEqual([]);
  });
});
