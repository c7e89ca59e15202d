import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RecentLatencies } from '@lockstep/shared/api';
import type { Page } from '@playwright/test';
import type { Cluster } from '../../testkit/cluster.ts';
import { startOffice } from '../simulated-office.ts';
import { expect, test } from '../test.ts';
import { disagree, fillOffice } from './office.ts';

const folder = fileURLToPath(new URL('../../docs/screenshots', import.meta.url));

/** Takes a picture of the page in both colour schemes: `name-light.png` and `name-dark.png`. */
async function take(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`), animations: 'disabled' });
  }
}

test.use({ names: ['ant', 'bee', 'cat', 'dog', 'elk'] });

test('the pictures of every view', async ({ page, cluster }) => {
  const ant = cluster.member('ant');
  const open = async (view: string) => {
    await page.goto(new URL(view, ant.url).href);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  };
  await fillOffice(cluster);

  await page.setViewportSize({ width: 1440, height: 820 });
  await open('/operations');
  const letter = page.getByRole('button').filter({ hasText: 'to the harbour office.md' }).first();
  await letter.click();
  await expect(page.getByRole('dialog')).toContainText('Durable on all 5 members');
  await take(page, 'operations');

  await open('/files/Bridge/Drawings/quay.dwg');
  await expect(page.getByText('quay.dwg').first()).toBeVisible();
  await take(page, 'files');

  await upload(page, cluster, open);

  await open('/transfers');
  await writeFile(join(cluster.member('bee').folder, 'Flight over the quay.mov'), Buffer.alloc(400_000_000, 'film'));
  await expect(page.getByRole('progressbar').first()).toBeVisible();
  await take(page, 'transfers');
  await expect(page.getByRole('heading', { name: 'Everything is here' })).toBeVisible();

  await page.setViewportSize({ width: 1440, height: 640 });
  await open('/');
  await expect(page.getByRole('status')).toContainText('All 5 members hold everything');
  // Wait until there are enough points for a line.
  const points = async () => {
    const response = await ant.fetch('api/v1/latencies/recent');
    return ((await response.json()) as RecentLatencies).members[0]?.samples.length ?? 0;
  };
  await expect.poll(points, { timeout: 240_000 }).toBeGreaterThanOrEqual(4);
  await page.reload();
  await expect(page.getByRole('table').getByRole('img')).toHaveCount(4);
  await take(page, 'overview');
  await page.setViewportSize({ width: 390, height: 844 });
  await take(page, 'phone');

  await page.setViewportSize({ width: 1440, height: 820 });
  await disagree(cluster);
  await open('/conflicts');
  await page.getByRole('button', { name: /2026-11-19/ }).click();
  await expect(page.getByRole('region', { name: 'line by line' })).toBeVisible();
  await take(page, 'conflicts');

  await cluster.member('elk').kill();
  await writeFile(join(ant.folder, 'Minutes', 'agenda.md'), 'Crane, storms, survey\n');
  await expect(page.getByRole('status').first()).toContainText('elk is down');
  await open('/latency');
  await page
    .getByRole('grid')
    .getByRole('link', { name: /^ant to bee: / })
    .click();
  await expect(page.getByRole('region', { name: 'ant to bee' }).locator('canvas')).toBeVisible();
  await take(page, 'latency');
  await open('/problems');
  await take(page, 'problems');
  await open('/health?span=1h');
  await expect(page.getByRole('region', { name: 'Events' })).toContainText('elk went down');
  await take(page, 'health');
  await open('/settings');
  await take(page, 'settings');
});

/** The picture of a file that goes to a directory from a browser over a slow line. */
async function upload(page: Page, cluster: Cluster, open: (view: string) => Promise<void>): Promise<void> {
  const file = join(cluster.root, 'Survey of the bridge.zip');
  await writeFile(file, Buffer.alloc(90_000_000, 'survey'));
  await open('/files/Bridge/Drawings');
  const line = await page.context().newCDPSession(page);
  await line.send('Network.enable');
  const conditions = { offline: false, latency: 5, downloadThroughput: -1 };
  await line.send('Network.emulateNetworkConditions', { ...conditions, uploadThroughput: 6_000_000 });
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Upload files' }).click();
  await (await choosing).setFiles(file);
  const uploads = page.getByRole('region', { name: 'Uploads' });
  const bar = uploads.getByRole('progressbar');
  await expect.poll(() => bar.evaluate((each: HTMLProgressElement) => each.position)).toBeGreaterThan(0.3);
  await take(page, 'upload');
  await line.send('Network.emulateNetworkConditions', { ...conditions, uploadThroughput: -1 });
  await expect(uploads.getByRole('status')).toContainText('on all 5 members', { timeout: 60_000 });
}

test('the pictures of fifty members, which are simulated', async ({ page }) => {
  const simulated = await startOffice();
  try {
    await page.setViewportSize({ width: 1440, height: 820 });
    await page.goto(simulated.link);
    // All others have a line, except those without a session: one is down, one shut down, one paused, and one has left. A clock is wrong for a while: until it is right again each member reports it.
    await expect(page.getByRole('table').getByRole('img')).toHaveCount(45, { timeout: 240_000 });
    await expect(page.getByRole('table').getByText('clock is wrong')).toHaveCount(0, { timeout: 240_000 });
    await take(page, 'fifty');
  } finally {
    simulated.stop();
  }
});
