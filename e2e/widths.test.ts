import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cutOff, unreadable } from './layout-checks.ts';
import { makeConflicts } from './make-conflicts.ts';
import { expect, test } from './test.ts';
import { allViews } from './views.ts';

const longName = 'a name of many words that does not fit beside anything else on a small screen.txt';
const longWord = 'a-name-without-any-place-at-which-a-browser-would-break-it-into-two-lines.txt';

/** Phones, tablets, laptops and wide screens. */
const widths = [390, 768, 1_024, 1_280, 1_440, 2_560];
/** Ten letters: enough to tell one name from the others of its directory. */
const nameWidthMin = 80;

test.describe('two members', () => {
  test.use({ names: ['ant', 'bee'] });

  test('[DB-A10] at every width nothing is cut off, overlaps or scrolls sideways, and every name can be read', async ({
    page,
    cluster,
    pageErrors,
  }) => {
    test.slow();
    const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
    await makeConflicts(cluster, { [longName]: (by) => `said ${by}\n${'and on '.repeat(60)}\n` });
    await mkdir(join(ant.folder, 'a directory with a long name', longWord), { recursive: true });
    await writeFile(join(ant.folder, 'a directory with a long name', longWord, longWord), 'x');
    await ant.put('plan.txt', 'plan\n');
    await promisify(execFile)('mkfifo', [join(ant.folder, `pipe-${longWord}`)]);
    await expect.poll(async () => (await ant.status()).problemCount).toBe(1);
    const [from, to] = await Promise.all([ant, bee].map(async (member) => (await member.status()).member.id));
    const more = [
      { place: `?member=${to}`, heading: 'Overview' },
      { place: `latency?from=${from}&to=${to}`, heading: 'Latency' },
      { place: `files/a%20directory%20with%20a%20long%20name/${longWord}/${longWord}`, heading: 'Files' },
      { place: `conflicts?copy=${encodeURIComponent(longName)}`, heading: 'Conflicts' },
      { place: 'files/plan.txt', heading: 'Files' },
      { place: 'settings/ignore-rules', heading: 'Ignore rules' },
      { place: 'nowhere', heading: undefined },
    ];
    const actions = page.getByRole('button', { name: 'Actions' });
    for (const { place, heading } of [...allViews, ...more]) {
      await page.goto(ant.url + place);
      if (heading !== undefined) await expect(page.getByRole('heading', { name: heading, level: 1 })).toBeVisible();
      await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
      for (const width of widths) {
        await test.step(`/${place} at ${width} px`, async () => {
          await page.setViewportSize({ width, height: 844 });
          await expect(actions).toBeInViewport({ ratio: 1 });
          await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
          await expect.poll(() => cutOff(page)).toEqual([]);
          await expect.poll(() => unreadable(page, nameWidthMin)).toEqual([]);
        });
      }
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await actions.click();
    for (const item of await page.getByRole('menuitem').all()) await expect(item).toBeInViewport({ ratio: 1 });
    expect(pageErrors).toEqual([]);
  });
});
