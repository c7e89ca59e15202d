import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeConflicts } from './make-conflicts.ts';
import { expect, test } from './test.ts';

/** Pictures of one pixel, red and blue. */
const pictures: Readonly<Record<string, Buffer>> = {
  ant: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGO4Y6MBAAM4AUGx7UnvAAAAAElFTkSuQmCC',
    'base64',
  ),
  bee: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGPQqLgDAAJIAX2aqSu/AAAAAElFTkSuQmCC',
    'base64',
  ),
};

const text = (by: string) => `# Minutes\n${'all agreed\n'.repeat(12)}said ${by}\nend\n`;

test('[DB-C1][DB-C2][DB-C3] both versions are shown side by side, and each choice reaches all members', async ({
  page,
  cluster,
  complaints,
}) => {
  await page.goto(`${cluster.member('cat').url}conflicts`);
  await expect(page.getByRole('heading', { name: 'There are no conflicts' })).toBeVisible();
  await makeConflicts(cluster, {
    'notes.txt': text,
    'plan.txt': text,
    'talk.txt': text,
    'photo.png': (by) => pictures[by] ?? '',
  });
  const nav = page.getByRole('navigation', { name: 'Views' });
  await expect(nav.getByRole('link', { name: 'Conflicts' })).toContainText('4');
  const textIn = (member: string, name: string) => readFile(join(cluster.member(member).folder, name), 'utf8');
  const everywhere = async (name: string, content: string) => {
    for (const { name: member } of cluster.members) {
      await expect.poll(() => textIn(member, name).catch(() => undefined)).toBe(content);
    }
  };

  await test.step('[DB-J9] the feed has one line for the conflict, with both writers', async () => {
    await page.goto(`${cluster.member('cat').url}operations?path=notes`);
    const line = page.getByRole('button', { name: /^Conflict/ });
    await expect(line).toHaveCount(1);
    await expect(line).toContainText('notes.txt');
    await expect(line).toContainText('bee’s version kept, ant’s copied');
    await nav.getByRole('link', { name: 'Conflicts' }).click();
  });

  await test.step('a text is compared line by line, and the other version can be kept', async () => {
    await page.getByRole('button', { name: /notes\.txt/ }).click();
    await expect(page).toHaveURL(/conflicts\?copy=notes\.conflict-/);
    const lines = page.getByRole('region', { name: 'line by line' });
    await expect(lines).toContainText('10 identical lines');
    await expect(lines).toContainText('only in bee’s version: said bee');
    await expect(lines).toContainText('only in ant’s version: said ant');
    await page.reload();
    await page.getByRole('button', { name: 'Keep ant’s version' }).click();
    await expect(page.getByRole('status').filter({ hasText: '1 conflict settled.' })).toBeVisible();
    // The pressed button is gone: the focus moves to the next conflict, for users of the keyboard.
    await expect(page.getByRole('button', { name: /photo\.png/ })).toBeFocused();
    await everywhere('notes.txt', text('ant'));
  });

  await test.step('a picture is shown as a picture, and the version that has the name can be kept', async () => {
    await page.getByRole('button', { name: /photo\.png/ }).click();
    for (const name of ['ant’s version', 'bee’s version']) {
      const shown = page.getByRole('img', { name });
      await expect.poll(() => shown.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);
    }
    await page.getByRole('button', { name: 'Keep bee’s version' }).click();
    await expect(nav.getByRole('link', { name: 'Conflicts' })).toContainText('2');
  });

  await test.step('[DB-C4] many at once need a confirmation, and both versions are kept under ordinary names', async () => {
    await page.getByRole('checkbox', { name: 'Select all 2' }).check();
    await page.getByRole('button', { name: 'Keep both', exact: true }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep both' }).click();
    await expect(page.getByRole('status').filter({ hasText: '2 conflicts settled.' })).toBeFocused();
    await expect(page.getByRole('heading', { name: 'There are no conflicts' })).toBeVisible();
    for (const name of ['plan', 'talk']) {
      await everywhere(`${name}.txt`, text('bee'));
      await everywhere(`${name} (from ant).txt`, text('ant'));
    }
    for (const member of cluster.members) {
      await expect.poll(async () => (await member.status()).conflictCopies).toBe(0);
    }
  });
  expect(complaints).toEqual([]);
});

test.describe('two members', () => {
  test.use({ names: ['ant', 'bee'] });

  test('[DB-C5] a file that changed since it was shown is kept, and the reason is shown; it fits a telephone', async ({
    page,
    cluster,
  }) => {
    const ant = cluster.member('ant');
    await page.setViewportSize({ width: 390, height: 844 });
    await makeConflicts(cluster, { 'notes.txt': text });
    await page.goto(`${ant.url}conflicts`);
    await page.getByRole('button', { name: /notes\.txt/ }).press('Enter');
    await expect(page.getByRole('region', { name: 'line by line' })).toContainText('said ant');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    // The page does not learn of the change: its request names the versions that it has shown.
    await page.route('**/api/v1/conflicts?*', (route) => route.abort());
    await writeFile(join(ant.folder, 'notes.txt'), 'newer\n');
    await page.getByRole('button', { name: 'Keep ant’s version' }).click();
    await expect(page.getByRole('alert').filter({ hasText: 'was not settled' })).toContainText('notes.txt');
    expect(await readFile(join(ant.folder, 'notes.txt'), 'utf8')).toBe('newer\n');
  });
});
