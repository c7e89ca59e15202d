import { test as base, expect as baseExpect, type Page } from '@playwright/test';
import { cookieFrom } from '../testkit/http.ts';
import { alertOf } from './alerts.ts';
import { browserCookie } from './browser.ts';
import { startOffice } from './simulated-office.ts';

interface Office {
  readonly url: string;
  readonly cookie: string;
}

/** One office for the whole file: fifty members take some seconds to come together. */
const test = base.extend<{ readonly pageErrors: string[]; readonly office: string }, { readonly served: Office }>({
  served: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright asks for one
    async ({}, use) => {
      const { url, link, stop } = await startOffice();
      await use({ url, cookie: await cookieFrom(link) });
      stop();
    },
    { scope: 'worker', timeout: 180_000 },
  ],
  office: async ({ context, served: { url, cookie } }, use) => {
    await context.addCookies([browserCookie(url, cookie)]);
    await use(url);
  },
  pageErrors: async ({ page, office }, use) => {
    const pageErrors: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') pageErrors.push(message.text());
    });
    page.on('pageerror', (error) => pageErrors.push(String(error)));
    page.on('request', (request) => {
      if (!request.url().startsWith(office) && !request.url().startsWith('data:')) {
        pageErrors.push(`asked for ${request.url()}`);
      }
    });
    await use(pageErrors);
  },
});

/** The speed of the simulation depends on the machine. */
const expect = baseExpect.configure({ timeout: 120_000 });
test.describe.configure({ mode: 'serial', timeout: 300_000 });

const row = (page: Page, name: string) =>
  page
    .getByRole('table', { name: 'Members' })
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name, exact: false }) });

test('[DB-X3] [DB-X4] a film on its way from a slow machine is shown, and a newcomer that is catching up', async ({
  page,
  office,
  pageErrors,
}) => {
  await page.goto(`${office}transfers`);
  // Both at once: one that arrives now is shown no more.
  const film = page
    .getByRole('listitem')
    .filter({ hasText: 'Flight over the quay', has: page.getByRole('progressbar') })
    .first();
  // The first one is on its way for a minute, and the next one half a minute later.
  await expect(film).toContainText(/B of 16 MB/, { timeout: 200_000 });
  const newcomer = page.getByRole('listitem').filter({ hasText: 'koi' });
  await expect(newcomer.getByRole('progressbar')).toBeVisible();
  expect(pageErrors).toEqual([]);
});

test('[DB-O4] [DB-O5] of fifty members those that need attention come first, each with its reason', async ({
  page,
  office,
  pageErrors,
}) => {
  await page.goto(office);
  await expect(page.getByRole('table', { name: 'Members' }).getByRole('rowheader')).toHaveCount(50);
  await expect(row(page, 'owl')).toContainText('down');
  await expect(row(page, 'owl')).toContainText('Nothing was heard from it');
  await expect(row(page, 'tern')).toContainText('its agent was shut down');
  await expect(row(page, 'mole')).toContainText('takes part again when it is resumed');
  await expect(row(page, 'yeti')).toContainText('left');
  await expect(row(page, 'koi')).toContainText('from ant');
  await expect(row(page, 'ram').locator('[data-title=Behind]')).toHaveText(/\d/);
  await expect(row(page, 'swan')).toContainText('silent');
  for (const words of ['down', 'shut down', 'silent', 'catching up', 'paused', 'left']) {
    await expect(page.getByRole('button', { name: new RegExp(`^\\d+ ${words}$`) })).toBeVisible();
  }
  // Last: it takes a minute until there is one, and no member is silent for that long.
  const drawnRoundTrips = (name: string) => row(page, name).locator('[data-title="Round trip"]').getByRole('img');
  await expect(drawnRoundTrips('ram')).toBeVisible();
  await expect(drawnRoundTrips('owl')).toHaveCount(0);
  await page.getByRole('searchbox', { name: 'Part of a name or address' }).fill('harbour');
  await expect(page.getByRole('table', { name: 'Members' }).getByRole('rowheader')).toHaveCount(1);
  expect(pageErrors).toEqual([]);
});

test('[DB-P2] [DB-L5] one page lists all that needs attention: own problems, other members, and a pair that is cut off', async ({
  page,
  office,
  pageErrors,
}) => {
  await page.goto(`${office}problems`);
  await expect(page.getByRole('listitem').filter({ hasText: 'Letters/printer' })).toBeVisible();
  await expect(alertOf(page, 'vole and wren have no session with each other')).toBeVisible();
  const item = (text: string) => page.getByRole('listitem').filter({ hasText: text });
  await expect(item('owl')).toContainText('does not answer');
  await expect(item('tern')).toContainText('was shut down');
  await expect(item('ram')).toContainText('disk full', { ignoreCase: true });
  await expect(item('clock of seal')).toBeVisible();
  expect(pageErrors).toEqual([]);
});

test('[DB-L1] the matrix of fifty members names every pair, near and far', async ({ page, office, pageErrors }) => {
  await page.goto(`${office}latency`);
  const grid = page.getByRole('grid');
  await expect(grid.getByRole('link', { name: /^ant to zebu: / })).toBeVisible();
  await expect(grid.getByRole('link', { name: 'vole to wren: cut off' })).toBeVisible();
  await expect(grid.getByRole('link', { name: /^ant to \S+: .* ms$/ })).not.toHaveCount(0);
  expect(pageErrors).toEqual([]);
});

test('[DB-J1] the feed shows what fifty members do all the time', async ({ page, office, pageErrors }) => {
  await page.goto(`${office}operations`);
  await expect(page.getByText(/^Live, /)).toBeVisible();
  const lines = page.getByRole('region', { name: 'Operations, newest first' }).getByRole('button');
  const before = (await lines.first().textContent()) ?? '';
  await expect(lines.first()).not.toHaveText(before);
  // The pattern leaves out lines of groups, which open and have no journey.
  await lines
    .filter({ hasText: /^(Added|Changed).*\.(csv|dwg|md|ods|pdf)/ })
    .first()
    .click();
  await expect(page.getByRole('dialog').getByRole('listitem')).toHaveCount(49);
  expect(pageErrors).toEqual([]);
});

test('[DB-C1] two versions that were written at the same time are shown side by side', async ({
  page,
  office,
  pageErrors,
}) => {
  await page.goto(`${office}conflicts`);
  await page.getByRole('button', { name: /2026-11-19/ }).click();
  const lines = page.getByRole('region', { name: 'line by line' });
  // The words that differ are marked.
  await expect(lines).toContainText(/It begins in (\[changed: )?May/);
  await expect(lines).toContainText(/It begins in (\[changed: )?April/);
  await page
    .getByRole('button', { name: /^Keep .+’s version$/ })
    .first()
    .click();
  await expect(page.getByRole('status').filter({ hasText: '1 conflict settled.' })).toBeVisible();
  expect(pageErrors).toEqual([]);
});
