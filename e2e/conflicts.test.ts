import { readdir, writeFile } from 'node:fs/promises';
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
  pageErrors,
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
  const everywhere = async (name: string, content: string) => {
    for (const member of cluster.members) await expect.poll(() => member.text(name)).toBe(content);
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
    await expect(lines).toContainText('only in bee’s version: said [changed: bee]');
    await expect(lines).toContainText('only in ant’s version: said [changed: ant]');
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
    await page.getByRole('button', { name: 'Keep both versions', exact: true }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep both versions' }).click();
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
  expect(pageErrors).toEqual([]);
});

test.describe('two members', () => {
  test.use({ names: ['ant', 'bee'] });

  test('[DB-C6][DB-C7][DB-C8] lines of both versions are picked, and that is undone', async ({
    page,
    cluster,
    pageErrors,
  }) => {
    const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
    const version = (by: string) => `\uFEFF# Plan\r\nfirst by ${by}\r\n${'as it was\r\n'.repeat(9)}last by ${by}`;
    await makeConflicts(cluster, {
      'plan.txt': version,
      'bytes.txt': (by) => Buffer.from([0xff, 0xfe, by.length, ...Buffer.from(by)]),
    });
    const copies = async () => (await readdir(bee.folder)).filter((name) => name.startsWith('plan.conflict-'));
    await expect.poll(copies).toHaveLength(1);
    const [copy = ''] = await copies();
    await page.goto(`${ant.url}conflicts?copy=bytes.txt`);
    await expect(page.getByText('Neither UTF-8 text nor a picture').first()).toBeVisible();
    await expect(page.getByRole('button', { name: 'Pick lines' })).toHaveCount(0);
    await page.goto(`${ant.url}conflicts?copy=plan.txt`);
    await expect(page.locator('mark')).toHaveText([
      '[changed: bee]',
      '[changed: ant]',
      '[changed: bee]',
      '[changed: ant]',
    ]);
    await page.getByRole('button', { name: 'Pick lines' }).click();
    const first = page.getByRole('group', { name: 'Place 1 of 2' });
    const last = page.getByRole('group', { name: 'Place 2 of 2' });
    await expect(first.getByRole('radio', { name: 'bee’s version, 1 line' })).toBeChecked();
    await first.getByRole('radio', { name: 'ant’s version, 1 line' }).check();
    await last.getByRole('radio', { name: 'both, bee’s version first' }).check();
    const result = page.getByRole('region', { name: 'The result: 13 lines' });
    await expect(result).toContainText('first by ant');
    await expect(result).toContainText('last by ant');
    await page.getByRole('button', { name: 'Save this result' }).click();
    await expect(page.getByRole('status').filter({ hasText: '1 conflict settled.' })).toBeVisible();
    const merged = `\uFEFF# Plan\r\nfirst by ant\r\n${'as it was\r\n'.repeat(9)}last by bee\r\nlast by ant`;
    await expect.poll(() => bee.text('plan.txt')).toBe(merged);
    await expect.poll(copies).toEqual([]);

    await test.step('after a reload both versions can be put back', async () => {
      await page.reload();
      const settled = page.getByRole('region', { name: 'Settled' });
      await expect(settled).toContainText('a new version replaced both, by ant');
      await page.goto(`${ant.url}operations?path=plan`);
      const deleted = page.getByRole('button', { name: /^Deleted/ });
      // Five operations of one member at one time are one line: so many are made if a file was seen empty first.
      const group = page.getByRole('button', { name: /operations .*the whole folder/ });
      await expect(deleted.or(group).first()).toBeVisible();
      if ((await deleted.count()) === 0) await group.click();
      await deleted.click();
      await page.getByRole('link', { name: 'The conflict that this settled' }).click();
      await expect(settled.getByRole('listitem').and(page.locator('[aria-current]'))).toContainText('plan.txt');
      await settled.getByRole('button', { name: /^Undo: plan\.txt/ }).click();
      await expect(page.getByRole('status').filter({ hasText: 'plan.txt is in conflict again' })).toBeFocused();
      await expect.poll(() => bee.text('plan.txt')).toBe(version('bee'));
      await expect.poll(() => bee.text(copy)).toBe(version('ant'));
      await expect(page.locator('mark').first()).toHaveText('[changed: bee]');
      await expect(settled).toHaveCount(0);
    });

    await test.step('what was settled a moment ago has its way back in the sentence that says so', async () => {
      await page.getByRole('button', { name: 'Keep ant’s version' }).click();
      await expect.poll(() => bee.text('plan.txt')).toBe(version('ant'));
      await page.getByRole('button', { name: 'Undo this for plan.txt' }).click();
      await expect.poll(() => bee.text('plan.txt')).toBe(version('bee'));
      await expect.poll(() => bee.text(copy)).toBe(version('ant'));
    });

    await test.step('what changed since is left as it is, and the page says so', async () => {
      await page.getByRole('button', { name: 'Keep ant’s version' }).click();
      await expect.poll(() => bee.text('plan.txt')).toBe(version('ant'));
      await writeFile(join(bee.folder, 'plan.txt'), 'newer');
      const settled = page.getByRole('region', { name: 'Settled' });
      await expect(settled).toContainText('plan.txt has changed since the conflict was settled');
      await expect(settled.getByRole('button')).toHaveCount(0);
    });
    expect(pageErrors).toEqual([]);
  });

  test('[DB-C5] a file that changed since it was shown is kept, and the reason is shown; it fits a telephone', async ({
    page,
    cluster,
  }) => {
    const ant = cluster.member('ant');
    await page.setViewportSize({ width: 390, height: 844 });
    await makeConflicts(cluster, { 'notes.txt': text });
    await page.goto(`${ant.url}conflicts`);
    await page.getByRole('button', { name: /notes\.txt/ }).press('Enter');
    await expect(page.getByRole('region', { name: 'line by line' })).toContainText('said [changed: ant]');
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    // The page does not learn of the change: its request names the versions that it has shown.
    await page.route('**/api/v1/conflicts?*', (route) => route.abort());
    await writeFile(join(ant.folder, 'notes.txt'), 'newer\n');
    await page.getByRole('button', { name: 'Keep ant’s version' }).click();
    await expect(page.getByRole('alert').filter({ hasText: 'was not settled' })).toContainText('notes.txt');
    expect(await ant.text('notes.txt')).toBe('newer\n');
  });
});
