import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Locator, Page } from '@playwright/test';
import { ShiftedClock } from '../testkit/machine/shifted-clock.ts';
import { alertOf } from './alerts.ts';
import { expect, test } from './test.ts';

const events = (page: Page) => page.getByRole('region', { name: 'Events' });
const told = (page: Page) => page.getByRole('region', { name: 'Be told' });

/** Notes the notifications of the browser in each tab; they are shown all the same. */
const noteNotifications = () => {
  const noted: string[] = [];
  Object.assign(window, { noted });
  window.Notification = class extends Notification {
    constructor(title: string, options?: NotificationOptions) {
      super(title, options);
      noted.push(title);
    }
  };
};
const noted = (page: Page) => page.evaluate(() => (window as unknown as { noted: readonly string[] }).noted);

test('[DB-H1] [DB-H2] the page shows what happened to each member in beats, in words and as events', async ({
  page,
  cluster,
  pageErrors,
}) => {
  test.slow();
  const [ant, cat] = [cluster.member('ant'), cluster.member('cat')];
  await page.goto(new URL('/health?span=1h', ant.url).href);
  const strip = page.getByRole('img', { name: /^cat over 1 hour: / });
  await expect(strip).toHaveAccessibleName(/^cat over 1 hour: up \d/);
  expect(await strip.locator('[data-mark="unknown"]').count()).toBeGreaterThan(50);
  await cat.kill();
  await expect(events(page).getByRole('link', { name: 'cat went down' }).first()).toBeVisible();
  await expect(strip).toHaveAccessibleName(/, down \d/);
  await expect(strip.locator('[data-mark="down"]').first()).toHaveAttribute('title', /: (up .*, )?down \d/);
  await cat.start();
  await expect(
    events(page)
      .getByRole('link', { name: /^cat is back: it was down for/ })
      .first(),
  ).toBeVisible();

  const { members } = await ant.status();
  const id = members.find(({ name }) => name === 'cat')?.id ?? '';
  await page.getByLabel('Events of', { exact: true }).selectOption('cat');
  await expect(page).toHaveURL(new RegExp(`about=${id}`));
  await expect(events(page).getByRole('listitem').nth(1)).toContainText('cat went down');
  await expect(events(page).getByRole('listitem').filter({ hasNotText: 'cat' })).toHaveCount(0);
  await events(page).getByRole('link', { name: 'cat went down' }).first().click();
  await expect(page).toHaveURL(new URL(`/?member=${id}`, ant.url).href);

  await page.goto(new URL('/health', ant.url).href);
  await page.getByRole('link', { name: '30 days' }).click();
  await expect(page).toHaveURL(/span=30d/);
  await expect(page.getByRole('img', { name: /^cat over 30 days: up / })).toBeVisible();
  await page.goto('about:blank');
  await ant.stop();
  await ant.start();
  await page.goto(new URL('/health?span=1h', ant.url).href);
  await expect(
    events(page).getByRole('link', { name: /^The agent of ant started, after .+ without it$/ }),
  ).toBeVisible();
  await expect(page.getByRole('img', { name: /^cat over 1 hour: up .*, down / })).toBeVisible();
  expect(pageErrors).toEqual([]);
});

test('[DB-H3] a test of the webhook says what happened', async ({ page, cluster, pageErrors }) => {
  const received: { state: string }[] = [];
  let status = 204;
  const server = createServer(async (request, response) => {
    received.push(JSON.parse(await text(request)));
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const ant = cluster.member('ant');
    await page.goto(new URL('/health', ant.url).href);
    await expect(told(page)).toContainText('ant sends no notice while no page is open');
    await page.goto('about:blank');
    await ant.stop();
    await ant.start({ env: { LOCKSTEP_NOTIFY_WEBHOOK: `http://${host}/secret` } });
    await page.goto(new URL('/health', ant.url).href);
    await expect(told(page)).toContainText(`The webhook ${host}: nothing was sent since the agent started.`);
    await page.getByRole('button', { name: 'Send a test' }).click();
    await expect(page.getByText(`The webhook took the test: ${host} answered 204.`)).toBeVisible();
    expect(received.map(({ state }) => state)).toEqual(['test']);
    // The notice stays until it is closed. In a low window it is where the button at the end of the page is.
    await page.setViewportSize({ width: 1_280, height: 500 });
    await page.keyboard.press('End');
    status = 500;
    await page.getByRole('button', { name: 'Send a test' }).click();
    await expect(alertOf(page, `The webhook failed: ${host} answered 500.`)).toBeVisible();
    await page.getByRole('link', { name: /^Problems/ }).click();
    await expect(page.getByText('notices not sent', { exact: true })).toBeVisible();
    await expect(page.getByRole('main')).not.toContainText('/secret');
    expect(pageErrors).toEqual([]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('[DB-H4] a browser that is asked to shows a cause once in all its tabs', async ({ page, context, cluster }) => {
  test.slow();
  const [ant, cat] = [cluster.member('ant'), cluster.member('cat')];
  await ant.stop();
  await ant.start({ env: { LOCKSTEP_NOTIFY_AFTER: '1s', LOCKSTEP_NOTIFY_FREE_SPACE: '0 B' } });
  await cluster.connected();
  await context.grantPermissions(['notifications'], { origin: new URL(ant.url).origin });
  await context.addInitScript(noteNotifications);
  await page.goto(new URL('/health', ant.url).href);
  await expect(told(page)).toContainText('This browser does not tell you.');
  const other = await context.newPage();
  await other.goto(ant.url);
  await expect(other.getByRole('heading', { name: 'Overview' })).toBeVisible();
  await page.getByRole('button', { name: 'Tell me in this browser' }).click();
  await expect(told(page)).toContainText('This browser tells you while a page of ant is open');
  await page.getByRole('button', { name: 'Show a test' }).click();
  await expect.poll(() => noted(page)).toEqual(['This is a test']);

  const both = async () =>
    [...(await noted(page)), ...(await noted(other))].filter((title) => title !== 'This is a test');
  await expect.poll(() => page.evaluate(() => localStorage.getItem('lockstep-told'))).toBe('[]');
  await cat.kill();
  await expect.poll(both).toEqual(['cat is down']);
  await other.reload();
  await expect(other.getByRole('link', { name: 'cat is down' })).toBeVisible();
  await page.close();
  // The tab that is left takes over with what was told.
  await expect.poll(async () => (await other.evaluate(() => navigator.locks.query())).held?.length).toBe(1);
  await expect.poll(() => other.evaluate(() => localStorage.getItem('lockstep-told'))).toContain('toldAt');
  expect(await noted(other)).toEqual([]);
});

test.describe('the round trips of whole minutes', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lockstep-clock-'));
  const clock = new ShiftedClock(join(directory, 'shift'));
  test.use({ start: { env: clock.env } });
  test.afterAll(() => rmSync(directory, { recursive: true }));

  test('[DB-L7] a pair has an hour, a day and a week with maxima, each with an address', async ({
    page,
    cluster,
    pageErrors,
  }) => {
    test.slow();
    const ant = cluster.member('ant');
    const untilKept = (shown: Locator) =>
      expect(async () => {
        // A minute is kept at its end. The page shows it after a while.
        if (!(await shown.isVisible())) clock.advance(60_000);
        await expect(shown).toBeVisible({ timeout: 7_000 });
      }).toPass();
    const [from, to] = (await ant.status()).members.map(({ id }) => id);
    await page.goto(new URL(`/latency?from=${from}&to=${to}`, ant.url).href);
    const pair = page.getByRole('region', { name: 'ant to bee' });
    for (const [choice, words] of [
      ['1 hour', 'the last hour'],
      ['24 hours', 'the last 24 hours'],
      ['7 days', 'the last 7 days'],
    ] as const) {
      await pair.getByRole('link', { name: choice, exact: true }).click();
      await untilKept(
        pair.getByRole('img', { name: new RegExp(`^Round trip from ant to bee over ${words}: lowest .*, highest`) }),
      );
    }
    await expect(page).toHaveURL(/span=7d/);
    await pair.getByRole('link', { name: 'The other way' }).click();
    // A write between the first samples of the two directions keeps one of them, and the other a minute later.
    await untilKept(page.getByRole('region', { name: 'bee to ant' }).getByText('the highest smoothed one'));
    expect(pageErrors).toEqual([]);
  });
});
