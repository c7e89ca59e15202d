import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from './test.ts';

test('[DB-F9] [DB-F10] a user looks at an old version, saves it, puts it back, and finds what was deleted', async ({
  page,
  cluster,
  pageErrors,
}) => {
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await mkdir(join(ant.folder, 'trip'));
  await ant.put('plan.txt', 'the first plan\n');
  await ant.put('trip/photo.txt', 'a photo\n');
  await cluster.settled();
  await ant.put('plan.txt', 'a second and longer plan\n');
  await cluster.settled();

  await page.goto(`${ant.url}files/plan.txt`);
  const panel = page.getByRole('region', { name: 'About plan.txt' });
  const versions = panel.getByRole('region', { name: 'Versions' }).getByRole('listitem');
  await expect(versions).toHaveCount(2);
  await expect(versions.first()).toContainText('Current version. In the folder of ant');
  // Its own overwritten version is on the others alone.
  await expect(versions.nth(1)).toContainText('On bee and cat');

  await test.step('[DB-F9] the old version is opened and downloaded, from a member that has it', async () => {
    const opening = page.context().waitForEvent('page');
    await versions.nth(1).getByRole('link', { name: /^Open/ }).click();
    const opened = await opening;
    await expect(opened.locator('body')).toHaveText('the first plan');
    await opened.close();
    const downloading = page.waitForEvent('download');
    await versions
      .nth(1)
      .getByRole('link', { name: /^Download/ })
      .click();
    expect(await readFile(await (await downloading).path(), 'utf8')).toBe('the first plan\n');
  });

  await test.step('[DB-F9] it is put back after a dialog that says what will happen', async () => {
    await versions
      .nth(1)
      .getByRole('button', { name: /^Put back/ })
      .click();
    const dialog = page.getByRole('dialog', { name: 'Put plan.txt back?' });
    await expect(dialog).toContainText('plan.txt becomes again as ant wrote it');
    await expect(dialog).toContainText('all members get it');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await ant.text('plan.txt')).toBe('a second and longer plan\n');
    await versions
      .nth(1)
      .getByRole('button', { name: /^Put back/ })
      .click();
    await dialog.getByRole('button', { name: 'Put it back' }).click();
    await expect(panel.getByRole('status')).toHaveText('plan.txt was put back.');
    await expect(versions).toHaveCount(3);
    await expect.poll(() => bee.text('plan.txt')).toBe('the first plan\n');
    // The versions that are kept on ant's disk, counted a few seconds after its start.
    await expect(page.getByText(/; \d old versions?, \d/)).toBeVisible();
  });

  await test.step('[DB-F10] deleted names are listed on demand, and a deleted directory comes back whole', async () => {
    await rm(join(bee.folder, 'trip'), { recursive: true });
    await rm(join(bee.folder, 'plan.txt'));
    await page.goto(`${ant.url}files`);
    await expect(page.getByText('Nothing is in here')).toBeVisible();
    await page.getByRole('switch', { name: 'Show deleted' }).click();
    await expect(page).toHaveURL(`${ant.url}files?deleted=true`);
    const deleted = page.getByRole('table', { name: 'Deleted in the folder' });
    await expect(deleted.getByRole('columnheader', { name: 'Deleted by' })).toBeVisible();
    await expect(deleted.locator('[data-row]')).toHaveText(['plan.txt', 'trip']);
    await expect(deleted.getByRole('row').filter({ hasText: 'plan.txt' })).toContainText('bee');
    await deleted.getByRole('link', { name: 'trip' }).click();
    const inTrip = page.getByRole('table', { name: 'Deleted in trip' });
    await expect(inTrip.locator('[data-row]')).toHaveText(['photo.txt']);
    const about = page.getByRole('region', { name: 'About trip' });
    await about.getByRole('button', { name: /^Put back/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Put it back' }).click();
    await expect(about.getByRole('status')).toHaveText('2 deleted entries put back.');
    await expect.poll(() => bee.text('trip/photo.txt')).toBe('a photo\n');
    await expect(inTrip).toHaveCount(0);
  });

  await test.step('a version that no member has any more says so, and has no button', async () => {
    await ant.put('trip/photo.txt', 'another photo\n');
    await cluster.settled();
    for (const { folder } of cluster.members) {
      await rm(join(folder, '.lockstep/history'), { recursive: true, force: true });
    }
    await page.goto(`${ant.url}files/trip/photo.txt`);
    const old = page.getByRole('region', { name: 'Versions' }).getByRole('listitem').last();
    await expect(old).toContainText('No member that is up has it any more');
    await expect(old.getByRole('button')).toHaveCount(0);
  });
  expect(pageErrors).toEqual([]);
});

test('[DB-F4] the buttons of the versions stay where they are when the last member confirms', async ({
  page,
  cluster,
}) => {
  const [ant, cat] = [cluster.member('ant'), cluster.member('cat')];
  await ant.put('plan.txt', 'the plan\n');
  await cluster.settled();
  await page.goto(`${ant.url}files/plan.txt`);
  const panel = page.getByRole('region', { name: 'About plan.txt' });
  const waiting = panel.getByRole('region', { name: 'Waiting for' });
  const putBack = panel.getByRole('button', { name: /^Put back/ });
  await expect(panel.getByText('3 of 3 members')).toBeVisible();
  await expect(waiting).toHaveCount(0);
  cat.signal('SIGSTOP');
  await rm(join(ant.folder, 'plan.txt'));
  await expect(panel.getByText('2 of 3 members')).toBeVisible();
  await expect(waiting).toContainText('cat');
  // The list has the delete last: the others are asked first which versions they have, and one of them does not answer.
  await expect(panel.getByRole('region', { name: 'Versions' }).getByRole('listitem')).toHaveCount(2);
  await expect(putBack).toBeVisible();
  const before = await putBack.boundingBox();
  cat.signal('SIGCONT');
  await expect(panel.getByText('3 of 3 members')).toBeVisible();
  await expect(waiting).toContainText('Nothing any more.');
  await expect.poll(() => putBack.boundingBox()).toEqual(before);
});
