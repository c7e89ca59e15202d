import type { Page } from '@playwright/test';
import { alertOf } from './alerts.ts';
import { expect, test } from './test.ts';
import { views } from './views.ts';

const files = (count: number, prefix: string) => Array.from({ length: count }, (_, index) => `${prefix}-${index}.txt`);

test.describe('two members', () => {
  test.use({ names: ['ant', 'bee'] });

  test('[DB-A2] [DB-A6] [DB-J7] each view says that its agent is gone, and then continues with everything that it missed', async ({
    page,
    cluster,
  }) => {
    // The test restarts an agent twice with seven pages open.
    test.slow();
    const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
    const errors: string[] = [];
    const pages = new Map<string, Page>();
    for (const { place, heading } of views) {
      const view = place === '' ? page : await page.context().newPage();
      view.on('pageerror', (error) => errors.push(`${heading}: ${error}`));
      await view.goto(ant.url + place);
      await expect(view.getByRole('heading', { name: heading, level: 1 })).toBeVisible();
      // A part that was not read yet would have an alert of its own.
      await expect(view.locator('[aria-busy="true"]')).toHaveCount(0);
      pages.set(heading, view);
    }
    const each = (check: (view: Page) => Promise<void>) => Promise.all([...pages.values()].map(check));
    const of = (heading: string) => pages.get(heading) ?? page;
    const operations = of('Operations');
    const live = operations.getByText(/^Live, /);
    const before = Number.parseInt((await live.textContent())?.slice('Live, '.length) ?? '', 10);
    let total = 0;

    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await test.step(signal, async () => {
        await (signal === 'SIGKILL' ? ant.kill() : ant.stop());
        await each((view) => expect(alertOf(view, 'does not answer')).toBeVisible());
        await each((view) => expect(view.getByRole('status').first()).toHaveText(/^Last known: /));
        await expect(operations.getByText(/^The connection is lost/)).toBeVisible();
        const [own, others] = [files(3, `${signal}-ant`), files(9, `${signal}-bee`)];
        for (const name of others) await bee.put(name, name);
        for (const name of own) await ant.put(name, name);
        total += own.length + others.length;

        await ant.start();
        await each((view) => expect(view.getByRole('alert')).toHaveCount(0));
        await each((view) => expect(view.getByRole('status').first()).toHaveText('Both members hold everything.'));
        const lines = operations.getByRole('region', { name: 'Operations, newest first' }).getByRole('button');
        // A line that is opened pauses the feed, so everything must be in it before.
        await expect(live).toHaveText(`Live, ${before + total} operations loaded.`);
        // Many in one directory are one line, which opens; a search keeps the names of this round alone.
        await operations.getByLabel('Part of a path').fill(signal);
        const closed = operations.getByRole('button', { expanded: false }).filter({ hasText: 'operations' });
        await expect(closed).toHaveCount(1);
        await closed.click();
        for (const name of [...own, ...others]) await expect(lines.filter({ hasText: name })).toHaveCount(1);
        await operations.getByLabel('Part of a path').fill('');
        await operations.getByRole('button', { name: 'Follow' }).click();
        const row = of('Overview')
          .getByRole('row')
          .filter({ has: page.getByRole('rowheader', { name: 'bee' }) });
        await expect(row).toContainText(String(total));
        await expect(
          of('Latency')
            .getByRole('grid')
            .getByRole('link', { name: /^bee to ant: / }),
        ).toHaveText(/ m?s$/);
        for (const name of [...own, ...others])
          await expect(of('Files').getByTitle(name, { exact: true })).toHaveCount(1);
        await expect(of('Conflicts').getByRole('heading', { name: 'There are no conflicts' })).toBeVisible();
        await expect(of('Transfers').getByRole('heading', { name: 'Everything is here' })).toBeVisible();
        await expect(of('Problems').getByText('Nothing needs your attention')).toBeVisible();
      });
    }
    expect(errors).toEqual([]);
  });
});

test.describe('one member', () => {
  test.use({ names: ['ant'] });

  test('[DB-A6] an agent that hangs shows within 3 s, though its connections stay open', async ({ page, cluster }) => {
    const ant = cluster.member('ant');
    await page.clock.install();
    await page.goto(ant.url);
    await expect(page.getByRole('status')).toHaveText('ant is alone and waits for others.');
    ant.signal('SIGSTOP');
    // The page's clock is simulated, so that the result does not depend on the load of the machine.
    await page.clock.runFor(3_000);
    await expect(alertOf(page, 'does not answer')).toBeVisible();
    ant.signal('SIGCONT');
    await page.clock.runFor(3_000);
    await expect(alertOf(page, 'does not answer')).toBeHidden();
  });
});
