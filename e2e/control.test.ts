import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Member } from '../testkit/member.ts';
import { expect, test } from './test.ts';

/** Lets other members control this one. */
async function allow(member: Member, level: 'pause' | 'settings'): Promise<void> {
  await appendFile(join(member.folder, '.lockstep', 'config.toml'), `\nallow_control = "${level}"\n`);
  await member.restart();
}

/** Opens the details of a member on the page of another one. */
async function openDetails(page: Page, on: Member, name: string): Promise<void> {
  await page.goto(on.url);
  await page
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name }) })
    .getByRole('link', { name })
    .click();
}

test('[DB-O10] another member is paused and resumed in its details, as far as it allows that', async ({
  page,
  cluster,
  pageErrors,
}) => {
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await allow(bee, 'pause');
  await cluster.settled();
  await openDetails(page, ant, 'cat');
  await expect(page.getByText('cat does not let other members pause it or change its settings.')).toBeVisible();
  await openDetails(page, ant, 'bee');
  await expect(page.getByRole('link', { name: 'Settings of bee' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Let bee retry now' }).click();
  await expect(page.getByText(/^On bee: Members that did not answer are contacted again\./)).toBeVisible();

  await page.getByRole('button', { name: 'Pause bee …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Pause bee?' });
  await expect(dialog.getByRole('button', { name: 'Do not pause' })).toBeFocused();
  await dialog.getByRole('button', { name: 'Pause bee' }).click();
  await expect(page.getByText('bee is paused.', { exact: true })).toBeVisible();
  await expect.poll(async () => (await bee.status()).paused).toBe(true);
  await page.getByRole('button', { name: 'Resume bee' }).click();
  await expect(page.getByText('bee is resumed.', { exact: true })).toBeVisible();
  await expect.poll(async () => (await bee.status()).paused).toBe(false);
  await expect(page.getByRole('button', { name: 'Pause bee …' })).toBeVisible();
  await cluster.settled();
  expect(pageErrors).toEqual([]);
});

test('[DB-S5] the settings of another member are changed from its details', async ({ page, cluster, pageErrors }) => {
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await allow(bee, 'settings');
  await cluster.settled();
  await openDetails(page, ant, 'bee');
  await page.getByRole('link', { name: 'Settings of bee' }).click();
  await expect(page.getByRole('heading', { name: 'Settings of bee', level: 1 })).toBeVisible();
  const limit = page.getByRole('listitem', { name: 'Limit for sending', exact: true });
  await limit.getByRole('button', { name: 'Change' }).click();
  await limit.getByRole('textbox').fill('2 MiB/s');
  await limit.getByRole('button', { name: 'Save' }).click();
  await expect(limit.getByRole('textbox')).toHaveCount(0);
  await expect(limit).toContainText('2 MiB/s');
  const fileOf = ({ folder }: Member) => readFile(join(folder, '.lockstep', 'config.toml'), 'utf8');
  expect(await fileOf(bee)).toContain('\nsend_limit = "2 MiB/s"\n');
  expect(await fileOf(ant)).not.toMatch(/^send_limit/m);
  const control = page.getByRole('listitem', { name: 'What other members may do here', exact: true });
  await expect(control).toContainText('Changed in config.toml only');
  await expect(control.getByRole('button')).toHaveCount(0);
  await page.getByRole('link', { name: 'Settings of ant' }).click();
  await expect(page.getByRole('heading', { name: 'Settings', level: 1, exact: true })).toBeVisible();
  expect(pageErrors).toEqual([]);
});
