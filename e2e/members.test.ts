import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { lockstepProgram } from '../testkit/repository.ts';
import { expect, test } from './test.ts';

test('the page shows the current state of the members', async ({ page, cluster, pageErrors }) => {
  const [ant, cat] = [cluster.member('ant'), cluster.member('cat')];
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) });

  await page.goto(ant.url);
  await expect(page.getByRole('status')).toHaveText('All 3 members hold everything.');
  for (const name of ['ant', 'bee', 'cat']) await expect(row(name)).toContainText('active');
  await expect(row('ant')).toContainText('this machine');
  await expect(row('bee')).toContainText(/\d ms/);

  await test.step('a file that is dropped into one folder arrives in all', async () => {
    await writeFile(join(ant.folder, 'hello.txt'), 'hello\n');
    for (const name of ['ant', 'bee', 'cat']) {
      await expect(row(name).locator('[data-title=Files]')).toHaveText('16 B');
    }
    for (const member of cluster.members) await expect.poll(() => member.text('hello.txt')).toBe('hello\n');
    await expect(page.getByRole('status')).toHaveText('All 3 members hold everything.');
  });

  await test.step('a member that is killed is shown as down, and as active when it is back', async () => {
    await expect(page).toHaveTitle('Overview · Lockstep');
    const icon = () => page.locator('link[rel=icon]').getAttribute('href');
    const calm = await icon();
    await cat.kill();
    await expect(row('cat')).toContainText('down');
    await test.step('[DB-A13] the tab and the menu of a telephone say so', async () => {
      await expect(page).toHaveTitle('(1) cat is down · Lockstep');
      await expect.poll(icon).not.toBe(calm);
      await page.setViewportSize({ width: 390, height: 844 });
      await page.getByRole('button', { name: 'Menu, 1 to look at' }).click();
      await expect(page.getByRole('navigation', { name: 'Views' }).getByRole('link').first()).toHaveText(/^Problems1$/);
      await page.setViewportSize({ width: 1440, height: 900 });
    });
    await expect(page.getByRole('status')).toHaveText('cat is down; the other two hold everything.');
    await cat.start();
    await expect(row('cat')).toContainText('active');
    await expect(page.getByRole('status')).toHaveText('All 3 members hold everything.');
  });

  expect(pageErrors).toEqual([]);
});

test('[DB-O8] the copied recipe, run as it is, adds a member', async ({ page, context, cluster, pageErrors }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(cluster.member('ant').url);
  await page.getByRole('button', { name: 'Add another machine' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add another machine' });
  await dialog.getByRole('button', { name: 'Copy the commands' }).click();
  await expect(dialog.getByRole('button', { name: 'Copied' })).toBeVisible();
  const recipe = await page.evaluate(() => navigator.clipboard.readText());
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);

  const folder = join(cluster.root, 'dog');
  const program = `${process.execPath} ${lockstepProgram}`;
  const commands = recipe
    .replaceAll('DIR', folder)
    .replace('NAME', 'dog')
    .replaceAll(/^lockstep/gm, `exec ${program}`);
  const [init = '', up = ''] = commands.split('\n');
  await promisify(execFile)('sh', ['-c', init]);
  const agent = spawn('sh', ['-c', up], { stdio: 'ignore' });
  try {
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'dog' }) });
    await expect(row).toContainText('active');
    expect(pageErrors).toEqual([]);
  } finally {
    agent.kill();
    if (agent.exitCode === null) await once(agent, 'exit');
  }
});

test.describe('one member', () => {
  test.use({ names: ['ant'] });

  test('[DB-O8] it says how to add another, and fits a telephone in both colour schemes', async ({
    page,
    cluster,
    pageErrors,
  }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(cluster.member('ant').url);
    await expect(page.getByRole('heading', { name: 'Add another machine' })).toBeVisible();
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    await page.getByRole('button', { name: 'Switch to the dark colours' }).click();
    await expect.poll(background).not.toBe(light);
    const dark = await background();
    await page.reload();
    await expect(page.getByRole('heading', { name: 'Add another machine' })).toBeVisible();
    await expect.poll(background).toBe(dark);
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    expect(pageErrors).toEqual([]);
  });
});
