import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { AxeResults, RunOptions } from 'axe-core';
import { setPassword } from '../testkit/member.ts';
import { alertOf } from './alerts.ts';
import { expect, test } from './test.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const rules: RunOptions = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] };
const views = [
  '/',
  '/operations',
  '/files',
  '/files/docs',
  '/conflicts',
  '/transfers',
  '/latency',
  '/problems',
  '/health',
  '/settings',
  '/settings/ignore-rules',
];

/** The violations that axe finds on a page. */
async function violationsOn(page: Page): Promise<readonly object[]> {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(
    (options): Promise<AxeResults> =>
      (window as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } }).axe.run(options),
    rules,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => ({ id, html, failureSummary })));
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`[DB-A3] [DB-A7] no view breaks a rule of WCAG AA (${colorScheme})`, async ({ page, cluster, pageErrors }) => {
    // Each of the many views takes seconds on a busy machine.
    test.slow();
    const ant = cluster.member('ant');
    await mkdir(join(ant.folder, 'docs'));
    for (let index = 0; index < 20; index++) await writeFile(join(ant.folder, 'docs', `${index}.txt`), `${index}\n`);
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const view of views) {
      await page.goto(new URL(view, ant.url).href);
      await expect(page.getByRole('status').first()).toBeVisible();
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
      expect(await violationsOn(page), `axe on ${view}`).toEqual([]);
    }
    expect(pageErrors).toEqual([]);
    await page.context().clearCookies();
    await setPassword(ant, 'a password of some length');
    await page.reload();
    await page.getByLabel('Password').fill('another password');
    await page.keyboard.press('Enter');
    await expect(alertOf(page, /^The password is wrong\.$/)).toBeVisible();
    expect(await violationsOn(page), 'axe without a login').toEqual([]);
  });
}

test('[DB-A7] nor do the uploads and the dialogs of Files', async ({ page, cluster }) => {
  const ant = cluster.member('ant');
  await mkdir(join(ant.folder, 'docs', 'more'), { recursive: true });
  await writeFile(join(ant.folder, 'docs', 'plan.txt'), 'plan\n');
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(`${ant.url}files/docs`);
  await expect(page.getByRole('link', { name: 'plan.txt' })).toBeVisible();
  await page.locator('[data-picks="files"]').setInputFiles([join(ant.folder, 'docs', 'plan.txt')]);
  await expect(page.getByText('This name is taken by another file')).toBeVisible();
  const dialog = page.getByRole('dialog');
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violationsOn(page), 'axe on uploads').toEqual([]);
    await page.getByRole('button', { name: 'New folder' }).click();
    await dialog.getByLabel('Name').fill('a/b');
    expect(await violationsOn(page), 'axe on a new folder').toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await expect(dialog).toContainText('1 file and 1 folder');
    expect(await violationsOn(page), 'axe on a delete').toEqual([]);
    await dialog.getByRole('button', { name: 'Do not delete' }).click();
  }
});
