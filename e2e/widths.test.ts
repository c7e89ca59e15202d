import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { makeConflicts } from './make-conflicts.ts';
import { expect, test } from './test.ts';
import { views } from './views.ts';

const longName = 'a name of many words that does not fit beside anything else on a small screen.txt';
const longWord = 'a-name-without-any-place-at-which-a-browser-would-break-it-into-two-lines.txt';

/** The elements beyond the sides of the screen that no scrolling box contains, without the closed menu. */
async function cutOff(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const scrolls = (element: Element | null): boolean =>
      element !== null && (/auto|scroll/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    return [...document.querySelectorAll('header *, main *')]
      .filter((element) => {
        const box = element.getBoundingClientRect();
        const isSeen = box.width > 0 && box.height > 0 && element.checkVisibility({ visibilityProperty: true });
        return isSeen && (box.left < -1 || box.right > width + 1) && !scrolls(element.parentElement);
      })
      .map((element) => element.outerHTML.slice(0, 200));
  });
}

test.describe('two members', () => {
  test.use({ names: ['ant', 'bee'] });

  test('[DB-A10] every view fits a telephone and a very wide screen: nothing is cut off or scrolls sideways', async ({
    page,
    cluster,
    complaints,
  }) => {
    test.slow();
    const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
    await makeConflicts(cluster, { [longName]: (by) => `said ${by}\n${'and on '.repeat(60)}\n` });
    await mkdir(join(ant.folder, 'a directory with a long name', longWord), { recursive: true });
    await writeFile(join(ant.folder, 'a directory with a long name', longWord, longWord), 'x');
    await promisify(execFile)('mkfifo', [join(ant.folder, `pipe-${longWord}`)]);
    await expect.poll(async () => (await ant.status()).problemCount).toBe(1);
    const [from, to] = await Promise.all([ant, bee].map(async (member) => (await member.status()).member.id));
    const more = [
      { place: `?member=${to}`, heading: 'Overview' },
      { place: `latency?from=${from}&to=${to}`, heading: 'Latency' },
      { place: `files/a%20directory%20with%20a%20long%20name/${longWord}/${longWord}`, heading: 'Files' },
      { place: `conflicts?copy=${encodeURIComponent(longName)}`, heading: 'Conflicts' },
      { place: 'nowhere', heading: undefined },
    ];
    const actions = page.getByRole('button', { name: 'Actions' });
    for (const { place, heading } of [...views, ...more]) {
      await page.goto(ant.url + place);
      if (heading !== undefined) await expect(page.getByRole('heading', { name: heading, level: 1 })).toBeVisible();
      await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
      for (const width of [390, 2_560]) {
        await test.step(`/${place} at ${width} px`, async () => {
          await page.setViewportSize({ width, height: 844 });
          await expect(actions).toBeInViewport({ ratio: 1 });
          await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
          await expect.poll(() => cutOff(page)).toEqual([]);
        });
      }
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await actions.click();
    for (const item of await page.getByRole('menuitem').all()) await expect(item).toBeInViewport({ ratio: 1 });
    expect(complaints).toEqual([]);
  });
});
