import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeConflicts } from './make-conflicts.ts';
import { expect, test } from './test.ts';

const run = promisify(execFile);

test('[DB-O1] [DB-O3] [DB-O4] the name and the address of a member open everything that is known about it', async ({
  page,
  cluster,
  pageErrors,
}) => {
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await page.goto(ant.url);
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'bee' }) });
  await expect(row).toContainText(bee.address);
  await expect(row).toContainText('active since');
  await expect(page.getByRole('table', { name: 'Members' }).getByText('oldest')).toHaveCount(1);
  await expect(row.getByRole('img')).toHaveAccessibleName(/ ms in the last \d+ /, { timeout: 30_000 });

  await row.getByRole('link', { name: 'bee' }).focus();
  await page.keyboard.press('Enter');
  const details = page.getByLabel('Details of bee');
  await expect(details).toContainText((await bee.status()).member.id);
  await expect(page).toHaveURL(/\?member=/);
  await page.reload();
  await expect(details).toBeVisible();
  await row.getByRole('link', { name: 'bee' }).click();
  await expect(details).toBeHidden();
  await test.step('[DB-A4] an address that names nothing says so', async () => {
    await page.goto(`${ant.url}?member=nobody`);
    await expect(page.getByRole('heading', { name: 'There is no such member' })).toBeVisible();
    await page.goto(`${ant.url}operations?op=nonsense`);
    await expect(page.getByRole('heading', { name: 'There is no such operation' })).toBeVisible();
  });
  expect(pageErrors).toEqual([]);
});

test('[DB-O2] [DB-P1] [DB-P2] [DB-P3] [DB-P4] everything that needs attention is listed with what to do, until it is resolved', async ({
  page,
  cluster,
  pageErrors,
}) => {
  const [ant, bee, cat] = [cluster.member('ant'), cluster.member('bee'), cluster.member('cat')];
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) });
  await page.goto(`${ant.url}problems`);
  await expect(page.getByText('Nothing needs your attention')).toBeVisible();

  await run('mkfifo', [join(ant.folder, 'pipe')]);
  await expect(page.getByRole('heading', { name: '1 problem on ant' })).toBeVisible();
  await expect(page.getByRole('listitem').filter({ hasText: 'not a file' })).toContainText('pipe');
  await test.step('[DB-P3] a problem opens to its entry of the runbook, at an address of its own', async () => {
    await page.getByText('What it means, and what to do').click();
    await expect(page).toHaveURL(/problems\?code=path-special&path=pipe$/);
    await page.reload();
    await expect(page.getByRole('definition').filter({ hasText: '.lockstepignore' })).toBeVisible();
    await page.getByText('What it means, and what to do').click();
    await expect(page).toHaveURL(/problems$/);
  });
  await test.step('[DB-P4] what has a problem is retried', async () => {
    await page.getByRole('button', { name: 'Retry now' }).click();
    await expect(page.getByText(/are contacted again/)).toBeVisible();
    await page.getByRole('button', { name: 'Close' }).click();
  });
  await bee.stop();
  await cat.kill();
  await expect(page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'bee' }) })).toContainText(
    'was shut down',
  );
  await expect(page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'cat' }) })).toContainText(
    'The connection was lost',
  );
  await expect(page.getByRole('link', { name: /^Problems/ })).toContainText('3');
  await page.getByRole('link', { name: 'Overview' }).click();
  await expect(row('bee')).toContainText('its agent was shut down');
  await expect(row('cat')).toContainText('The connection was lost');

  await test.step('[DB-A5] a member without any session says that its data about others may be old', async () => {
    await expect(page.getByRole('status')).toContainText(
      'cat is down; bee is shut down; ant has 1 problem: not a file.',
    );
    await expect(page.getByRole('status')).toContainText('may be old');
  });

  await Promise.all([bee.start(), cat.start()]);
  await rm(join(ant.folder, 'pipe'));
  await page.getByRole('link', { name: /^Problems/ }).click();
  await expect(page.getByText('Nothing needs your attention')).toBeVisible();
  await expect(page.getByRole('status')).toHaveText('All 3 members hold everything.');
  expect(pageErrors).toEqual([]);
});

test('[DB-O7] below the members the overview sums up the other views, and each part leads there', async ({
  page,
  cluster,
  pageErrors,
}) => {
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await makeConflicts(cluster, { 'notes.txt': (by) => `said ${by}\n` });
  for (let file = 0; file < 6; file++) await bee.put(`log-${file}.txt`, 'x'.repeat(1_000));
  await page.goto(ant.url);
  const part = (name: string) => page.getByRole('region', { name });
  await expect(
    part('Last operations')
      .getByRole('link', { name: /^\d+ operations in the whole folder$/ })
      .first(),
  ).toBeVisible();
  await expect(part('Last operations')).toContainText('bee');
  await expect(part('Conflicts').getByRole('link', { name: 'notes.txt' })).toBeVisible();
  await expect(part('Free space').getByRole('meter')).toHaveCount(3);
  await expect(part('On the way')).toContainText('No connected member waits for file contents.');
  await expect(part('Last ten minutes')).toContainText(/ operations? in the journal of ant, .+ received, .+ sent\./, {
    timeout: 40_000,
  });
  await expect(part('Last ten minutes').getByRole('img')).toHaveAccessibleName(/^Operations in each 10 s/);
  for (const [name, heading] of [
    ['Last ten minutes', 'Operations'],
    ['Last operations', 'Operations'],
    ['On the way', 'Transfers'],
    ['Conflicts', 'Conflicts'],
  ] as const) {
    await part(name).getByRole('heading').getByRole('link').click();
    await expect(page.getByRole('heading', { name: heading, level: 1 })).toBeVisible();
    await page.goBack();
  }
  await part('Free space').getByRole('link', { name: 'cat' }).click();
  await expect(page.getByLabel('Details of cat')).toBeVisible();
  await part('Conflicts').getByRole('link', { name: 'notes.txt' }).click();
  await expect(page.getByRole('region', { name: 'line by line' })).toBeVisible();
  expect(pageErrors).toEqual([]);
});

test.describe('nine members', () => {
  test.use({ names: ['ant', 'bee', 'cat', 'dog', 'eel', 'fox', 'gnu', 'hen', 'ibis'] });

  test('[DB-O5] [DB-O6] of many members the one that needs attention comes first, and they can be filtered', async ({
    page,
    cluster,
    pageErrors,
  }) => {
    // The test starts nine agents.
    test.slow();
    const ant = cluster.member('ant');
    const names = page.getByRole('table', { name: 'Members' }).getByRole('rowheader').getByRole('link');
    await page.goto(ant.url);
    await expect(page.getByRole('status')).toHaveText('All 9 members hold everything.');
    await expect(names).toHaveText(cluster.members.map(({ name }) => name));

    await cluster.member('gnu').kill();
    await expect(names.first()).toHaveText('gnu');
    await page.getByRole('button', { name: '8 active' }).click();
    await expect(names).toHaveText(['ant', 'bee', 'cat', 'dog', 'eel', 'fox', 'hen', 'ibis']);
    await page.getByRole('searchbox', { name: 'Part of a name or address' }).fill('E');
    await expect(names).toHaveText(['bee', 'eel', 'hen']);
    await names.first().click();
    await expect(page.getByLabel('Details of bee')).toBeVisible();
    await page.reload();
    await expect(names).toHaveText(['bee', 'eel', 'hen']);
    await expect(page.getByLabel('Details of bee')).toBeVisible();
    await page.getByRole('searchbox').fill('gnu');
    await expect(page.getByRole('heading', { name: 'No member matches' })).toBeVisible();
    await page.getByRole('button', { name: '8 active' }).click();
    await expect(names).toHaveText(['gnu']);
    expect(pageErrors).toEqual([]);
  });
});
