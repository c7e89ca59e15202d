import { expect, test } from './test.ts';

test('[DB-O9] a member that is down is removed after its name was typed, and can be taken back', async ({
  page,
  cluster,
  pageErrors,
}) => {
  const [ant, cat] = [cluster.member('ant'), cluster.member('cat')];
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'cat' }) });
  await page.goto(ant.url);
  await expect(row).toContainText('active');
  await row.getByRole('link', { name: 'cat' }).click();
  await expect(page.getByLabel('Details of cat')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Remove cat from the cluster' })).toHaveCount(0);
  await cat.kill();
  await page.getByRole('button', { name: 'Remove cat from the cluster' }).click();
  const dialog = page.getByRole('dialog', { name: 'Remove cat from the cluster?' });
  await expect(dialog.getByRole('button', { name: 'Remove cat' })).toBeDisabled();
  await dialog.getByLabel(/^To confirm/).fill('cat');
  await dialog.getByRole('button', { name: 'Remove cat' }).click();
  await expect(page.getByText('cat is removed from the cluster.')).toBeVisible();
  await expect(row).toContainText('removed by ant');
  await page.getByRole('button', { name: 'Close' }).click();
  await expect(page.getByRole('status')).toHaveText('Both members hold everything.');

  await cat.start({ ready: false });
  await test.step('[DB-O8] the page of the removed member says so, and adds no machine', async () => {
    const its = await page.context().newPage();
    await expect(() => its.goto(cat.url)).toPass();
    await expect(its.getByRole('status')).toContainText('cat was removed from the cluster by ant');
    await expect(its.getByRole('button', { name: 'Add another machine' })).toHaveCount(0);
    await its.close();
  });
  await page.getByRole('button', { name: 'Take cat back' }).click();
  await expect(row).toContainText('active');
  expect(pageErrors).toEqual([]);
});
