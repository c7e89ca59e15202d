import type { Page } from '@playwright/test';
import { alertOf } from './alerts.ts';
import { expect, test } from './test.ts';
import { views } from './views.ts';

test.use({ names: ['ant', 'bee'] });

const lazy = views.filter(({ place }) => place !== '');
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });
const menuLink = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: new RegExp(`^${name}`) });

/** Keeps the page from loading the other views before they are opened. */
const neverIdle = () => {
  window.requestIdleCallback = () => 0;
};

test('[DB-A11] without its agent every view opens, because the browser has loaded all of them when it was idle', async ({
  page,
  cluster,
}) => {
  const ant = cluster.member('ant');
  await page.goto(ant.url);
  const loaded = () => page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  for (const { place } of lazy) {
    await expect.poll(loaded).toContainEqual(expect.stringMatching(new RegExp(`/assets/${place}-.*\\.js$`)));
  }
  await page.waitForLoadState('networkidle');
  await ant.kill();
  await expect(alertOf(page, 'does not answer')).toBeVisible();
  for (const view of lazy) {
    await menuLink(page, view.heading).click();
    await expect(heading(page, view.heading)).toBeVisible();
    await expect(page.getByText('This view is not loaded yet')).toHaveCount(0);
  }
});

test('[DB-A11] a view that cannot be loaded says so, leaves the others alone, and loads when the agent is back', async ({
  page,
  cluster,
}) => {
  const ant = cluster.member('ant');
  await page.addInitScript(neverIdle);
  await page.goto(ant.url);
  await expect(page.getByRole('button', { name: 'Actions' })).toBeVisible();
  await ant.kill();
  await menuLink(page, 'Latency').click();
  const told = page.getByRole('heading', { name: 'This view is not loaded yet' });
  await expect(told).toBeVisible();
  await expect(heading(page, 'Latency')).toBeVisible();
  await expect(page.getByText('The view is loaded as soon as it is back.')).toBeVisible();
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(told).toBeVisible();
  await menuLink(page, 'Overview').click();
  await expect(page.getByRole('table', { name: 'Members' })).toBeVisible();
  await menuLink(page, 'Latency').click();
  await expect(told).toBeVisible();

  await ant.start();
  await expect(page.getByRole('grid')).toBeVisible();
  await expect(told).toHaveCount(0);
});

test('[DB-A11] one retry loads a view whose file was missing', async ({ page, cluster }) => {
  await page.addInitScript(neverIdle);
  await page.route('**/assets/transfers-*', (route) => route.fulfill({ status: 404 }));
  await page.goto(`${cluster.member('ant').url}transfers`);
  await expect(page.getByText('Its files could not be loaded from the agent.')).toBeVisible();
  await page.unroute('**/assets/transfers-*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('heading', { name: 'Everything is here' })).toBeVisible();
});

for (const { place, request } of [
  { place: '', request: '**/api/v1/ops?*' },
  { place: 'files', request: '**/api/v1/tree?*' },
]) {
  test(`[DB-A6] a part of a view that could not be read is read when the agent next answers (/${place})`, async ({
    page,
    cluster,
  }) => {
    await page.route(request, (route) => route.abort(), { times: 1 });
    const failed = page.waitForEvent('requestfailed');
    // The aborted request has no response; the next one may have its own before the page has loaded.
    const answered = page.waitForResponse(request);
    await page.goto(`${cluster.member('ant').url}${place}`);
    await failed;
    expect((await answered).ok()).toBe(true);
    await expect(page.getByText('This could not be loaded')).toHaveCount(0);
  });
}

test('[DB-A6] what was read stays as it is, with no alert of its own, while it cannot be read again', async ({
  page,
  cluster,
}) => {
  await page.goto(`${cluster.member('ant').url}transfers`);
  const read = page.getByRole('heading', { name: 'Everything is here' });
  await expect(read).toBeVisible();
  await page.route('**/api/v1/transfers', (route) => route.abort());
  // The second follows what the first left on the page.
  for (let failures = 0; failures < 2; failures++) await page.waitForEvent('requestfailed');
  await expect(page.getByText('This could not be loaded')).toHaveCount(0);
  await expect(read).toBeVisible();
});

test.describe('a newer page', () => {
  /** Opens the page of the agent at `url`, and waits until it knows that the agent serves no newer one: the next answer is to `upgrade`. */
  async function open(page: Page, url: string): Promise<void> {
    const known = page.waitForResponse((answer) => {
      return new URL(answer.url()).pathname === '/' && !answer.request().isNavigationRequest();
    });
    await page.goto(url);
    await expect(page.getByRole('table', { name: 'Members' })).toBeVisible();
    await (await known).finished();
  }

  /** The agent serves a page whose main script has another name; `isKept`: a proxy still returns the old page to a reload. */
  async function upgrade(page: Page, isKept: boolean): Promise<void> {
    await page.route('**/', async (route) => {
      if (isKept && route.request().isNavigationRequest()) return route.continue();
      // The agent may be stopped while the page asks.
      const answer = await route.fetch().catch(() => undefined);
      if (answer === undefined) return route.abort();
      await route.fulfill({
        response: answer,
        body: (await answer.text()).replace(/index-[^.]+\.js/, 'index-next.js'),
      });
    });
    const [main = ''] = await page.locator('script[type=module]').evaluateAll((all) => all.map((it) => it.outerHTML));
    const [name = ''] = /index-[^.]+\.js/.exec(main) ?? [];
    await page.route('**/assets/index-next.js', async (route) => {
      const url = route.request().url().replace('index-next.js', name);
      const answer = await route.fetch({ url }).catch(() => undefined);
      await (answer === undefined ? route.abort() : route.fulfill({ response: answer }));
    });
  }
  const isNew = (page: Page) => page.locator('script[src="/assets/index-next.js"]');

  test('[DB-A12] the page reloads after its agent was upgraded, but not while the reader types or has a dialog open', async ({
    page,
    cluster,
  }) => {
    const ant = cluster.member('ant');
    await open(page, ant.url);
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Pause ant …' }).click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await upgrade(page, false);
    await ant.stop();
    await ant.start();
    const notice = page.getByText('The agent serves a newer version of this page');
    await expect(notice).toBeVisible();
    await expect(isNew(page)).toHaveCount(0);
    await page.getByRole('button', { name: 'Do not pause' }).click();
    await expect(isNew(page)).toHaveCount(1);
    await expect(page.getByRole('table', { name: 'Members' })).toBeVisible();
    await expect(notice).toHaveCount(0);
  });

  test('[DB-A12] the page reloads also if the newer one cannot be loaded at first', async ({ page, cluster }) => {
    const ant = cluster.member('ant');
    await open(page, ant.url);
    await upgrade(page, false);
    let asked = 0;
    await page.route('**/assets/index-next.js', (route) => {
      asked += 1;
      return asked === 1 ? route.fulfill({ status: 404 }) : route.fallback();
    });
    await ant.stop();
    await ant.start();
    await expect(isNew(page)).toHaveCount(1);
    expect(asked).toBeGreaterThan(1);
  });

  test('[DB-A12] the page reloads once at most if a reload does not bring the newer one', async ({ page, cluster }) => {
    const ant = cluster.member('ant');
    let loads = 0;
    page.on('request', (request) => {
      if (request.isNavigationRequest()) loads += 1;
    });
    await open(page, ant.url);
    await upgrade(page, true);
    const notice = page.getByText('The agent serves a newer version of this page');
    // Shows which document is there: the state of a page that is about to be replaced must not end the wait.
    await page.evaluate(() => document.documentElement.setAttribute('data-first', ''));
    await ant.stop();
    await ant.start();
    await expect(page.locator('html:not([data-first])')).toHaveCount(1);
    await expect(page.getByRole('table', { name: 'Members' })).toBeVisible();
    await expect(notice).toBeVisible();
    await page.waitForLoadState('networkidle');

    await ant.stop();
    await expect(alertOf(page, 'does not answer')).toBeVisible();
    await ant.start();
    await expect(page.getByRole('alert')).toHaveCount(0);
    await expect(notice).toBeVisible();
    await page.waitForLoadState('networkidle');
    expect(loads).toBe(2);
    await page.getByRole('button', { name: 'Reload now' }).click();
    await expect.poll(() => loads).toBe(3);
  });
});
