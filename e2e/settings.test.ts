import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { alertOf } from './alerts.ts';
import { expect, test } from './test.ts';

test.use({ names: ['ant', 'bee'] });

const row = (page: Page, title: string) => page.getByRole('listitem', { name: title, exact: true });

test('[DB-S1] [DB-S2] a setting is changed on the page, at once or for the next start, and no edit by hand is lost', async ({
  page,
  cluster,
}) => {
  const ant = cluster.member('ant');
  const file = join(ant.folder, '.lockstep', 'config.toml');
  const before = await readFile(file, 'utf8');
  await page.goto(new URL('/', ant.url).href);
  await page.getByRole('link', { name: 'Settings' }).click();
  await expect(page).toHaveURL(new URL('/settings', ant.url).href);

  const age = row(page, 'Age of old versions');
  await expect(age).toContainText('30d');
  await expect(age).toContainText('The default.');
  await age.getByRole('button', { name: 'Change' }).click();
  await expect(age).toContainText('older versions are removed from this member within a minute, for good.');
  await expect(age).toContainText('It takes effect at once.');
  await age.getByRole('textbox').fill('1s');
  await age.getByRole('button', { name: 'Save' }).click();
  await expect(alertOf(page, /history_age must be a duration from 1m to 3650d/)).toBeVisible();
  expect(await readFile(file, 'utf8')).toBe(before);
  await age.getByRole('textbox').fill('7d');
  await age.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Age of old versions: 7d, from now on.')).toBeVisible();
  await expect(age).toContainText(/Set in config\.toml:\d+\. The default is 30d\./);
  expect(await readFile(file, 'utf8')).toContain('\nhistory_age = "7d"\n');
  await expect.poll(async () => (await ant.status()).history?.ageMsMax).toBe(7 * 86_400_000);

  const name = row(page, 'Name of this member');
  await name.getByRole('button', { name: 'Change' }).click();
  await expect(name).toContainText('It takes effect at the next lockstep up.');
  await name.getByRole('textbox').fill('emu');
  const edited = `# by hand\n${await readFile(file, 'utf8')}`.replace('history_age = "7d"', 'history_age = "9d"');
  await writeFile(file, edited);
  await name.getByRole('button', { name: 'Save' }).click();
  await expect(alertOf(page, 'config.toml was changed since it was shown. Nothing was written')).toBeVisible();
  expect(await readFile(file, 'utf8')).toBe(edited);
  await expect(age).toContainText('From the next start on: 9d.');
  await name.getByRole('button', { name: 'Save' }).click();
  await expect(name).toContainText('From the next start on: emu.');
  expect(await readFile(file, 'utf8')).toContain('# by hand\n');

  await page.goto('about:blank');
  await ant.stop();
  await ant.start();
  await page.goto(new URL('/settings', ant.url).href);
  await expect(name).not.toContainText('From the next start on');
  await expect(name).toContainText('emu');
  await expect(age).toContainText('9d');
  await age.getByRole('button', { name: 'Change' }).click();
  await age.getByRole('button', { name: 'Back to the default' }).click();
  await expect(age).toContainText('The default.');
  expect(await readFile(file, 'utf8')).not.toMatch(/^history_age/m);
});

test('[DB-S3] what could open the member or run a program is shown, without secrets, and not changed here', async ({
  page,
  cluster,
  pageErrors,
}) => {
  const ant = cluster.member('ant');
  const file = join(ant.folder, '.lockstep', 'config.toml');
  await ant.stop();
  const text = await readFile(file, 'utf8');
  await writeFile(file, `${text}notify_webhook = "https://hooks.example.net/T0/very-secret"\n`);
  await ant.start({ env: { LOCKSTEP_HISTORY_SIZE: '5 %' } });
  await page.goto(new URL('/settings', ant.url).href);
  const webhook = row(page, 'Webhook');
  await expect(webhook).toContainText('https://hooks.example.net/…');
  for (const title of ['Webhook', 'Command for notices', 'Address of the dashboard', 'Address for members']) {
    await expect(row(page, title)).toContainText('Changed in config.toml only');
    await expect(row(page, title).getByRole('button')).toHaveCount(0);
  }
  await expect(page.locator('body')).not.toContainText('very-secret');
  const space = row(page, 'Space for old versions');
  await expect(space).toContainText('LOCKSTEP_HISTORY_SIZE, which overrides config.toml');
  await expect(space.getByRole('button')).toHaveCount(0);
  expect(pageErrors).toEqual([]);
  await writeFile(file, `${text}colour = "red"\n`);
  await expect(alertOf(page, /config\.toml:\d+: there is no key colour/)).toBeVisible();
  await expect(row(page, 'Name of this member').getByRole('button')).toBeDisabled();
});

test('[DB-S6] [DB-X6] a limit says what holds, and the page says while it delays something', async ({
  page,
  cluster,
}) => {
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await page.goto(new URL('/settings', ant.url).href);
  const limit = row(page, 'Limit for sending');
  await limit.getByRole('button', { name: 'Change' }).click();
  await limit.getByRole('textbox').fill('10 MiB/s 08:00-25:00');
  await limit.getByRole('button', { name: 'Save' }).click();
  await expect(alertOf(page, 'send_limit must be none, a rate from 16 KiB/s')).toBeVisible();
  await limit.getByRole('textbox').fill('256 KiB/s bee, 1 MiB/s cat');
  await limit.getByRole('button', { name: 'Save' }).click();
  await expect(limit).toContainText('Sending to bee is limited to 256 KiB/s.');
  await expect(limit).toContainText('No other member is called cat');
  // It would take minutes, so that any machine shows the limit meanwhile; the limit is removed at the end.
  await writeFile(join(ant.folder, 'film'), randomBytes(40 * 1_048_576));
  await page.goto(new URL('/transfers', ant.url).href);
  await expect(page.getByRole('region', { name: 'Totals' })).toContainText('Sending to bee is limited to 256 KiB/s.');
  await page.getByRole('link', { name: 'Overview' }).click();
  await expect(page.getByText('Sending to bee is limited to 256 KiB/s.')).toBeVisible();
  await page.goto(new URL('/settings', ant.url).href);
  await limit.getByRole('button', { name: 'Change' }).click();
  await limit.getByRole('button', { name: 'Back to the default' }).click();
  await expect(limit).toContainText('The default.');
  await expect.poll(async () => (await bee.status()).pending).toBe(0);
});
