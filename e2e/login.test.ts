import { lockstep, type Member, setPassword } from '../testkit/member.ts';
import { expect, test } from './test.ts';
import { allViews } from './views.ts';

test.use({ names: ['ant', 'bee'] });

const title = (name: string) => `This browser is not logged in to ${name}`;

async function linkOf(member: Member): Promise<string> {
  const { out, err, code } = await lockstep(['dashboard', '--no-open', member.folder]);
  expect(code, err).toBe(0);
  return out.trim();
}

test('[DB-A15] without a login every view says how to get in, and continues automatically when the link was opened', async ({
  browser,
  cluster,
}) => {
  const ant = cluster.member('ant');
  // Without the cookies of the other tests.
  const context = await browser.newContext();
  const page = await context.newPage();
  for (const { place } of allViews) {
    await page.goto(ant.url + place);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(title('ant'));
    await expect(page.getByText('lockstep dashboard DIR')).toBeVisible();
    await expect(page.getByRole('navigation')).toHaveCount(0);
  }
  await expect(page).toHaveTitle('Log in · Lockstep');
  await expect(page.getByText(ant.folder)).toHaveCount(0);

  const other = await context.newPage();
  const link = await linkOf(ant);
  await other.goto(link);
  await expect(other).toHaveURL(ant.url);
  await expect(other.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible();
  const last = allViews.at(-1)?.heading ?? '';
  await expect(page.getByRole('heading', { name: last, level: 1 })).toBeVisible();

  // The page stays open over a restart, and a used link is no error for a browser that is logged in.
  await ant.restart();
  await expect(page.getByRole('alert')).toHaveCount(0);
  await expect(page.getByRole('heading', { name: last, level: 1 })).toBeVisible();
  await other.goto(link);
  await expect(other.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible();
  await context.close();
});

test('[DB-A15] a used link leads to the sentence, and a login to one member of this host ends none to another', async ({
  browser,
  cluster,
}) => {
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  const context = await browser.newContext();
  const page = await context.newPage();
  const used = await linkOf(ant);
  await page.goto(used);
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
  await page.goto(bee.url);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(title('bee'));
  await page.goto(await linkOf(bee));
  for (const { url } of [ant, bee]) {
    await page.goto(url);
    await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
  }
  await context.clearCookies();
  await page.goto(used);
  await expect(page).toHaveURL(ant.url);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(title('ant'));
  await context.close();
});

test('[DB-A15] where a password was set, it logs a browser in as well', async ({ browser, cluster }) => {
  const ant = cluster.member('ant');
  expect(await setPassword(ant, 'a password of some length')).toMatchObject({ code: 0 });
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${ant.url}latency`);
  const field = page.getByLabel('Password');
  await field.fill('not this one');
  await page.keyboard.press('Enter');
  await expect(page.getByText('The password is wrong.')).toBeVisible();
  // After a wrong password the next one must wait. Once one was accepted nothing is sent again: the page opens, however long that takes.
  await expect(async () => {
    const answered = page.waitForResponse((answer) => answer.request().method() === 'POST');
    await field.fill('a password of some length');
    await page.getByRole('button', { name: 'Log in' }).click();
    expect((await answered).ok()).toBe(true);
  }).toPass({ timeout: 90_000 });
  await expect(page.getByRole('heading', { name: 'Latency', level: 1 })).toBeVisible();
  await context.close();
});

test('[DB-A16] the logins are listed, another browser is logged out at once, and this one logs itself out', async ({
  browser,
  cluster,
}) => {
  const ant = cluster.member('ant');
  const open = async () => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(await linkOf(ant));
    await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible();
    return page;
  };
  const other = await open();
  const page = await open();
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Logins' }).click();
  await expect(page).toHaveURL(`${ant.url}logins`);
  const logins = page.getByRole('list', { name: 'Logins' }).getByRole('listitem');
  const mine = logins.filter({ hasText: 'this browser' });
  await expect(mine).toHaveCount(1);
  await expect(mine).toContainText(/Chrome on \w+.*logged in .*from 127\.0\.0\.1/);
  // Newest first: the other browser logged in before this one.
  await logins
    .nth(1)
    .getByRole('button', { name: /^End the login/ })
    .click();
  await expect(page.getByText('That browser is logged out.')).toBeVisible();
  await expect(other.getByRole('heading', { level: 1 })).toHaveText(title('ant'));
  await mine.getByRole('button', { name: 'Log out' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(title('ant'));
  await other.context().close();
  await page.context().close();
});
