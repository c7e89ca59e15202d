import type { Locator, Page } from '@playwright/test';
import { makeConflicts } from './make-conflicts.ts';
import { expect, test } from './test.ts';
import { views } from './views.ts';

/** More stops than any view has before a target. */
const stopsMax = 80;

/** The focused element if its focus is not visible; undefined if it is. */
async function unseenFocus(page: Page): Promise<string | undefined> {
  return page.evaluate(() => {
    const { activeElement: element } = document;
    if (element === null || element === document.body) return undefined;
    const styles = [null, '::before', '::after'].map((pseudo) => getComputedStyle(element, pseudo));
    const isMarked = styles.some(
      ({ outlineStyle, outlineWidth, boxShadow }) =>
        (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0) || boxShadow !== 'none',
    );
    const { left, right, top, bottom, width, height } = element.getBoundingClientRect();
    const isInSight = width > 0 && height > 0 && left < innerWidth && right > 0 && top < innerHeight && bottom > 0;
    return isMarked && isInSight
      ? undefined
      : `${isMarked ? 'out of sight' : 'unmarked'}: ${element.outerHTML.slice(0, 300)}`;
  });
}

/** Presses Tab until `target` has the focus, and checks that the focus is visible at every stop. */
async function tabTo(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await expect(target).toBeVisible();
  for (let stop = 0; stop < stopsMax; stop++) {
    await page.keyboard.press(key);
    expect(await unseenFocus(page)).toBeUndefined();
    if (await target.evaluate((element) => element === document.activeElement)) return;
  }
  await expect(target, `reached by ${key}`).toBeFocused();
}

test.describe('two members', () => {
  test.use({ names: ['ant', 'bee'] });

  test('[DB-A9] everything can be done with the keyboard alone, and the focus is always visible', async ({
    page,
    cluster,
    pageErrors,
  }) => {
    // The test presses hundreds of keys.
    test.slow();
    const ant = cluster.member('ant');
    await makeConflicts(cluster, { 'notes.txt': (by) => `said ${by}\n` });
    await ant.put('plan.txt', 'plan\n');
    const nav = page.getByRole('navigation', { name: 'Views' });
    const open = async (heading: string) => {
      const link = nav.getByRole('link', { name: new RegExp(`^${heading}`) });
      await page.keyboard.press('Control+Home');
      await tabTo(page, link, 'Shift+Tab');
      await page.keyboard.press('Enter');
      await expect(page.getByRole('heading', { name: heading, level: 1 })).toBeVisible();
      await expect(link).toBeFocused();
    };
    await page.goto(ant.url);
    await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible();

    await test.step('the content can be reached without the menu', async () => {
      await tabTo(page, page.getByRole('link', { name: 'Skip to the content' }));
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      await expect(page.getByRole('main').locator(':focus')).toHaveCount(1);
    });

    await test.step('each view', async () => {
      for (const { heading } of views) await open(heading);
    });

    await test.step('a member', async () => {
      await open('Overview');
      await tabTo(page, page.getByRole('table', { name: 'Members' }).getByRole('link', { name: 'bee' }));
      await page.keyboard.press('Enter');
      await expect(page.getByLabel('Details of bee')).toBeVisible();
    });

    await test.step('a pair', async () => {
      await open('Latency');
      const cells = page.getByRole('grid').getByRole('link');
      await tabTo(page, cells.first());
      await page.keyboard.press('Enter');
      await expect(page.getByRole('region', { name: 'ant to bee' })).toBeVisible();
    });

    await test.step('a file', async () => {
      await open('Files');
      await tabTo(page, page.locator('[data-row="0"]'));
      await page.keyboard.press('End');
      await expect(page.getByRole('link', { name: 'plan.txt', exact: true })).toBeFocused();
      expect(await unseenFocus(page)).toBeUndefined();
      await page.keyboard.press('Enter');
      await expect(page.getByRole('region', { name: 'About plan.txt' })).toBeVisible();
    });

    await test.step('an operation', async () => {
      await open('Operations');
      const line = page
        .getByRole('region', { name: 'Operations, newest first' })
        .getByRole('button', { name: /plan\.txt/ });
      await tabTo(page, line);
      await page.keyboard.press('Enter');
      await expect(page.getByRole('dialog')).toContainText('plan.txt');
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog')).toBeHidden();
      await expect(line).toBeFocused();
    });

    await test.step('a conflict', async () => {
      await open('Conflicts');
      await tabTo(page, page.getByRole('button', { name: /notes\.txt/ }));
      await page.keyboard.press('Enter');
      await tabTo(page, page.getByRole('button', { name: 'Keep ant’s version' }));
      await page.keyboard.press('Enter');
      await expect(page.getByRole('heading', { name: 'There are no conflicts' })).toBeVisible();
      await expect.poll(async () => (await ant.status()).conflictCopies).toBe(0);
    });

    await test.step('a pause, and its end', async () => {
      const menu = page.getByRole('button', { name: 'Actions' });
      const choose = async (name: string) => {
        await page.keyboard.press('Enter');
        await expect(page.getByRole('menu').locator(':focus')).toHaveCount(1);
        await page.keyboard.press('ArrowDown');
        await expect(page.getByRole('menuitem', { name: 'Rescan the folder' })).toBeFocused();
        // The last item is the one below it.
        await page.keyboard.press('ArrowUp');
        await expect(page.getByRole('menuitem', { name: 'Logins' })).toBeFocused();
        await page.keyboard.press('ArrowUp');
        await expect(page.getByRole('menuitem', { name })).toBeFocused();
        expect(await unseenFocus(page)).toBeUndefined();
        await page.keyboard.press('Enter');
      };
      await tabTo(page, menu, 'Shift+Tab');
      await choose('Pause ant');
      await tabTo(page, page.getByRole('dialog').getByRole('button', { name: 'Pause ant' }));
      await page.keyboard.press('Enter');
      await expect(page.locator('[data-tone]')).toContainText('ant is paused');
      await expect(menu).toBeFocused();
      await choose('Resume ant');
      await expect(page.locator('[data-tone]')).toHaveText('Both members hold everything.');
    });

    await test.step('on a telephone the menu opens, and the focus skips it while it is closed', async () => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(ant.url);
      const menu = page.getByRole('button', { name: 'Menu' });
      await tabTo(page, menu);
      await tabTo(
        page,
        page.getByRole('main').getByRole('button').or(page.getByRole('main').getByRole('link')).first(),
      );
      await tabTo(page, menu, 'Shift+Tab');
      await page.keyboard.press('Enter');
      await tabTo(page, nav.getByRole('link', { name: 'Latency' }));
      await page.keyboard.press('Enter');
      await expect(page.getByRole('heading', { name: 'Latency', level: 1 })).toBeVisible();
    });
    expect(pageErrors).toEqual([]);
  });
});
