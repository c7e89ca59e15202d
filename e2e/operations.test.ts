import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { OperationsPage } from '@lockstep/shared/api';
import type { Page } from '@playwright/test';
import type { Member } from '../testkit/member.ts';
import { describeMs, partOf, traceWork } from './page-work.ts';
import { expect, test } from './test.ts';

const feed = (page: Page) => page.getByRole('region', { name: 'Operations, newest first' });
const line = (page: Page, text: string | RegExp) => feed(page).getByRole('button').filter({ hasText: text });

async function writeFiles(member: Member, directory: string, count: number): Promise<void> {
  await mkdir(join(member.folder, directory), { recursive: true });
  for (let file = 0; file < count; file++) await member.put(join(directory, `file-${file}.txt`), 'x');
}

test('[DB-J1] [DB-J2] [DB-J4] [DB-J5] the feed shows operations of all members, and their journey to each member', async ({
  page,
  cluster,
  pageErrors,
}) => {
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await page.goto(new URL('operations', ant.url).href);
  await expect(page.getByText(/^Live, /)).toBeVisible();

  await bee.put('letter.txt', 'hello');
  const letter = line(page, 'letter.txt');
  await expect(letter).toContainText(/Added.*bee.*5 B/);

  await test.step('a chosen operation shows its journey', async () => {
    await letter.click();
    await expect(page).toHaveURL(/op=/);
    const panel = page.getByRole('dialog');
    await expect(panel).toContainText('Durable on all 3 members');
    await expect(panel.getByRole('listitem')).toHaveCount(3);
    await expect(panel.getByRole('listitem').filter({ hasText: 'ant' })).toContainText(/on disk[\d.,]+ m?s/);
    await page.reload();
    await expect(panel).toContainText('letter.txt');
    await page.keyboard.press('Escape');
    await expect(panel).toBeHidden();
  });

  await test.step('a renamed directory is one line, which can be opened', async () => {
    await writeFiles(ant, 'old', 5);
    await expect.poll(async () => (await ant.status()).files).toBe(6);
    await expect.poll(async () => (await ant.status()).synchronised).toBe(true);
    await rename(join(ant.folder, 'old'), join(ant.folder, 'new'));
    const group = line(page, /Renamed.*operations.*old →.*new/);
    await group.click();
    await expect(group).toHaveAttribute('aria-expanded', 'true');
    await expect(line(page, /Renamed.*old\/file-1\.txt →new\/file-1\.txt/)).toBeVisible();
    const text = page.getByLabel('Part of a path');
    await text.fill('no such path');
    await expect(page.getByRole('heading', { name: 'Nothing matches' })).toBeVisible();
    await text.fill('');
    await expect(group).toHaveAttribute('aria-expanded', 'true');
    await group.click();
    await expect(line(page, /old\/file-1\.txt →/)).toBeHidden();
  });

  await test.step('the filter is part of the address', async () => {
    await page.getByLabel('Part of a path').fill('LETTER');
    await expect(feed(page).getByRole('button')).toHaveCount(1);
    await page.getByLabel('What was done').selectOption('Deleted');
    await expect(page.getByRole('heading', { name: 'Nothing matches' })).toBeVisible();
    await page.reload();
    await expect(page.getByRole('heading', { name: 'Nothing matches' })).toBeVisible();
    expect(new URL(page.url()).search).toBe('?path=LETTER&kind=deleted');
  });
  expect(pageErrors).toEqual([]);
});

test('[DB-J3] [DB-J7] a paused feed counts new operations and continues, also after the stream was cut', async ({
  page,
  cluster,
}) => {
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  // The stream passes through this route, so that it can be cut like a link.
  let isCut = false;
  let cut = async (): Promise<void> => undefined;
  await page.routeWebSocket(/ops\/live/, async (socket) => {
    if (isCut) return socket.close();
    socket.connectToServer();
    cut = () => socket.close();
  });
  await page.goto(new URL('operations', ant.url).href);
  await expect(page.getByText(/^Live, /)).toBeVisible();
  await page.getByRole('button', { name: 'Pause' }).click();
  await bee.put('one.txt', '1');
  await page.getByRole('button', { name: /^\d+ new$/ }).click();
  await expect(line(page, 'one.txt')).toBeVisible();
  await expect(page.getByText(/^Live, /)).toBeVisible();

  isCut = true;
  await cut();
  await expect(page.getByText(/^The connection is lost/)).toBeVisible();
  isCut = false;
  await bee.put('two.txt', '2');
  await expect(line(page, 'two.txt')).toHaveCount(1);
  await expect(line(page, 'one.txt')).toHaveCount(1);
});

/** The number of operations in the journal of a member, counted one by one. */
async function journaled(member: Member): Promise<number> {
  let count = 0;
  for (let after = 0; ; ) {
    const response = await member.fetch(`api/v1/ops?limit=1000&after=${after}`);
    const { operations } = (await response.json()) as OperationsPage;
    const last = operations.at(-1);
    if (last === undefined) return count;
    count += operations.length;
    after = last.row;
  }
}

test('[DB-J6] [DB-J8] ten thousand operations flow in, and the page stays smooth and small', async ({
  browser,
  page,
  cluster,
}) => {
  test.slow();
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await page.goto(new URL('operations', ant.url).href);
  await expect(page.getByText(/^Live, /)).toBeVisible();
  const session = await page.context().newCDPSession(page);
  const heapBytes = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    return usedSize;
  };
  const before = await heapBytes();
  const count = 10_000;
  const work = await traceWork(browser, page, async () => {
    await writeFiles(bee, '', count);
    await expect.poll(async () => (await ant.status()).files, { timeout: 200_000 }).toBe(count);
    const operations = (await journaled(ant)).toLocaleString('en');
    await expect(page.getByText(`Live, ${operations} operations loaded`)).toBeVisible();
  });
  // [DB-J8] They are a flood; its lines open.
  const flood = line(page, /Added.*operations.*the whole folder.*bee/).first();
  await flood.click();
  await expect(line(page, /file-\d+\.txt/).first()).toBeVisible();
  await page.getByRole('button', { name: 'Follow' }).click();
  const grownBytes = (await heapBytes()) - before;
  const lines = await feed(page).getByRole('listitem').count();
  const { tasksMs, framesMs, dropped } = work;
  const busyMs = tasksMs.reduce((sum, taskMs) => sum + taskMs, 0);
  const measured = [
    `${framesMs.length} frames on the screen: ${describeMs(framesMs)}; ${dropped} late`,
    `main thread: ${(busyMs / count).toFixed(2)} ms of processor time for each operation, longest task ${partOf(tasksMs, 1).toFixed(1)} ms`,
    `heap +${Math.round(grownBytes / 1e6)} MB, ${lines} lines`,
  ];
  test.info().annotations.push(...measured.map((description) => ({ type: 'measured', description })));
  process.stdout.write(`${measured.map((figure) => `    ${figure}\n`).join('')}`);
  // Processor time, not the clock: on a busy machine frames are late whatever the page does, but none of its tasks may delay them.
  expect(partOf(tasksMs, 1)).toBeLessThan(50);
  expect(grownBytes).toBeLessThan(40_000_000);
  expect(lines).toBeLessThan(80);

  await test.step('a pause moves no line on a telephone', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await expect(page.getByText(/^Live, /)).toBeVisible();
    // While members are behind, the sentence above says so and is longer.
    await expect(page.getByRole('status')).toContainText('All 3 members hold everything.');
    // The menu slides out of the view, and the page gets its width only then: the filters need one row less.
    await page.evaluate(async () => {
      const slides = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
      await Promise.allSettled(slides.map(({ finished }) => finished));
    });
    const topOf = async () => (await feed(page).boundingBox())?.y;
    const before = await topOf();
    await page.getByRole('button', { name: 'Pause' }).click();
    await expect(page.getByText(/^Paused, /)).toBeVisible();
    await expect.poll(topOf).toBe(before);
  });
});

test.describe('a member with a long name', () => {
  const longName = 'the-old-workstation-in-the-second-cellar';
  test.use({ names: ['ant', longName], viewport: { width: 390, height: 844 } });

  test('[DB-A10] [DB-J2] the journey of an operation fits a telephone, and a renamed file is shown as a file', async ({
    page,
    cluster,
    pageErrors,
  }) => {
    const ant = cluster.member('ant');
    await page.goto(new URL('operations', ant.url).href);
    await expect(page.getByText(/^Live, /)).toBeVisible();
    await cluster.member(longName).put('one.txt', '1');
    await line(page, 'one.txt').click();
    const panel = page.getByRole('dialog');
    await expect(panel).toContainText('Durable on all 2 members');
    await expect(panel.getByText(longName, { exact: true })).toBeInViewport({ ratio: 1 });
    await expect.poll(() => panel.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Follow' }).click();
    await rename(join(ant.folder, 'one.txt'), join(ant.folder, 'two.txt'));
    await expect(line(page, /Renamed.*one\.txt →two\.txt(?!\/)/)).toBeVisible();
    await ant.put('two\nlines.txt', '2');
    await expect(line(page, 'lines.txt').getByText('lines.txt')).toHaveText('two lines.txt', { useInnerText: true });
    expect(pageErrors).toEqual([]);
  });
});
