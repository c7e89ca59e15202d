import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from './test.ts';

test.use({ names: ['ant', 'bee'] });

test('[DB-S4] the rules show what a change will do before it is saved, and no later edit is overwritten', async ({
  page,
  cluster,
  pageErrors,
}) => {
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  const file = join(ant.folder, '.lockstepignore');
  await mkdir(join(ant.folder, 'logs'));
  for (const name of ['logs/a.log', 'logs/b.log', 'plan.txt']) await ant.put(name, name);
  await cluster.settled();
  await page.goto(new URL('/settings', ant.url).href);
  await page.getByRole('link', { name: 'Ignore rules' }).click();
  const rules = page.getByRole('textbox', { name: 'The rules in .lockstepignore' });
  const look = page.getByRole('button', { name: 'Show what this will do' });
  const save = page.getByRole('button', { name: 'Save the rules' });
  const said = page.getByRole('region', { name: 'What this will do' });
  await expect(look).toBeDisabled();
  await rules.fill('*.log\n[\n');
  await expect(save).toBeDisabled();
  await look.click();
  await expect(said).toContainText('2 entries will be ignored from now on');
  await expect(said.getByRole('listitem')).toHaveText(['logs/a.log', 'logs/b.log']);
  await expect(said).toContainText('Line 2');
  await rules.fill('*.log\n');
  await expect(said).toHaveCount(0);
  await expect(save).toBeDisabled();
  await look.click();
  await save.click();
  await expect(page.getByText('The rules are saved, and go to all members.')).toBeVisible();
  await expect.poll(() => bee.text('.lockstepignore')).toBe('*.log\n');
  // Rules that were just saved may take effect later than the file reaches another member.
  await expect.poll(() => ant.get('/paths/logs/c.log')).toMatchObject({ ignored: true });

  await writeFile(join(ant.folder, 'logs', 'c.log'), 'of ant alone');
  await rules.fill('# none\n');
  await look.click();
  await expect(said).toContainText('3 entries will no longer be ignored');
  await expect(said).toContainText('which cannot be undone: look for secrets');
  await ant.put('.lockstepignore', '*.log\n*.tmp\n');
  await expect(page.getByRole('alert').filter({ hasText: 'The file was changed meanwhile' })).toBeVisible();
  await expect(save).toBeDisabled();
  await page.getByRole('button', { name: 'Show the file as it is now' }).click();
  await expect(rules).toHaveValue('*.log\n*.tmp\n');
  expect(await readFile(file, 'utf8')).toBe('*.log\n*.tmp\n');
  expect(pageErrors).toEqual([]);
});

test('[DB-P5] [IG11] a problem that a rule ends can be ignored, after the same look', async ({ page, cluster }) => {
  const ant = cluster.member('ant');
  await promisify(execFile)('mkfifo', [join(ant.folder, 'a [pipe] ')]);
  await ant.put('a p ', 'another');
  await expect.poll(async () => (await ant.status()).problemCount).toBe(1);
  await page.goto(new URL('/problems', ant.url).href);
  await page.getByRole('link', { name: 'Ignore a [pipe]' }).click();
  await expect(page.getByRole('textbox', { name: 'The rules in .lockstepignore' })).toHaveValue('/a \\[pipe\\]\\ \n');
  await page.getByRole('button', { name: 'Show what this will do' }).click();
  await expect(page.getByRole('region', { name: 'What this will do' })).toContainText(
    'Nothing that is replicated now will be ignored.',
  );
  await page.getByRole('button', { name: 'Save the rules' }).click();
  await expect.poll(async () => (await ant.status()).problemCount).toBe(0);

  // Next to the folder: it must not be journaled while it is small.
  const large = `${ant.folder}-film.mkv`;
  await writeFile(large, '');
  await truncate(large, 600 * 1_024 ** 3);
  await rename(large, join(ant.folder, 'film.mkv'));
  await page.goto(new URL('/problems', ant.url).href);
  await page.getByRole('link', { name: 'Ignore film.mkv' }).click();
  await page.getByRole('button', { name: 'Show what this will do' }).click();
  await page.getByRole('button', { name: 'Save the rules' }).click();
  await expect.poll(async () => (await ant.status()).problemCount).toBe(0);
  await page.goto(new URL('/problems', ant.url).href);
  await expect(page.getByRole('heading', { name: 'Nothing needs your attention' })).toBeVisible();
});
