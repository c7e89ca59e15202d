import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { OperationsPage } from '@lockstep/shared/api';
import type { Page } from '@playwright/test';
import type { Result } from '../../bench/result.ts';
import type { Member } from '../../testkit/member.ts';
import { browserCookie } from '../browser.ts';
import { describeMs, type PageWork, partOf, traceWork } from '../page-work.ts';
import { expect, test } from '../test.ts';

/** The maximum that the feed keeps, and the highest rate that the page must bear. */
const operations = 100_000;
const perSecond = 2_000;
const burst = 20_000;
const stepMs = 50;
/** The number of frames in which the feed is scrolled from one end to the other: no user scrolls faster. */
const scrollFrames = 600;
const loads = 5;

const results: Result[] = [];

test.use({ names: ['ant'] });
test.describe.configure({ mode: 'serial' });

test.afterAll(async () => {
  const file = process.env.LOCKSTEP_BENCH_RESULTS;
  if (file !== undefined) await writeFile(file, JSON.stringify(results));
});

test('from the navigation to the members', async ({ browser, cluster }) => {
  const ant = cluster.member('ant');
  const cold: number[] = [];
  const warm: number[] = [];
  const busy: number[] = [];
  for (let load = 0; load <= loads; load++) {
    const context = await browser.newContext();
    await context.addCookies([browserCookie(ant.url, await ant.logIn())]);
    const page = await context.newPage();
    await page.addInitScript(noteMembers);
    const [first, again] = [await loadMs(page, ant.url), await loadMs(page, ant.url)];
    const work = await traceWork(browser, page, async () => void (await loadMs(page, ant.url)));
    await context.close();
    // The first load warms up the browser itself.
    if (load === 0) continue;
    cold.push(first);
    warm.push(again);
    busy.push(busyMsOf(work));
  }
  const bounds = { unit: 'ms', target: { atMost: 1_000 }, goal: { atMost: 500 } } as const;
  results.push({ name: 'page: from navigation to the members, first visit', lockstep: cold, ...bounds });
  results.push({ name: 'page: the same, later visits', lockstep: warm, ...bounds });
  const note = 'processor time: unlike the others it does not depend on other load of the machine';
  results.push({ name: 'page: main thread in a later visit', lockstep: busy, note, ...bounds });
});

test('the feed', async ({ browser, page, cluster }) => {
  const ant = cluster.member('ant');
  await makeDirectories(ant, 'live', operations);
  await makeDirectories(ant, 'burst', burst);
  const directories = async (): Promise<number> => (await ant.status()).directories;
  await expect.poll(directories, { timeout: 300_000 }).toBe((operations + burst) / 4);
  await page.goto(new URL('operations', ant.url).href);
  await expect(page.getByText(/^Live, /)).toBeVisible();

  let tookMs = 0;
  const live = await traceWork(browser, page, async () => {
    const beginMs = performance.now();
    await writeSteadily(ant, 'live', operations);
    await untilJournaled(ant, operations);
    await untilShown(page, ant);
    tookMs = performance.now() - beginMs;
  });
  const rate = Math.round(operations / (tookMs / 1_000));
  note(`feed, 100,000 operations at ${rate} a second`, live, tookMs);
  results.push({
    name: 'page: heap with 100,000 operations in the feed',
    unit: 'MiB',
    lockstep: [await heapMiB(page)],
    target: { atMost: 150 },
    goal: { atMost: 100 },
  });

  let scrollMs = 0;
  const scroll = await traceWork(browser, page, async () => {
    scrollMs = await scrollThrough(page);
  });
  note('scrolling through 100,000 lines', scroll, scrollMs);
  await page.getByRole('button', { name: 'Follow' }).click();

  // The stream ends when the view is left, and then continues where it ended.
  const menu = page.getByRole('navigation', { name: 'Views' });
  await menu.getByRole('link', { name: 'Overview' }).click();
  await writeSteadily(ant, 'burst', burst);
  await untilJournaled(ant, operations + burst);
  let burstMs = 0;
  const caughtUp = await traceWork(browser, page, async () => {
    const beginMs = performance.now();
    await menu.getByRole('link', { name: 'Operations' }).click();
    await untilShown(page, ant);
    burstMs = performance.now() - beginMs;
  });
  note('20,000 operations at once', caughtUp, burstMs);
});

/** Writes `count` files, `perSecond` in each second; a machine that cannot write so many takes longer. */
async function writeSteadily(member: Member, name: string, count: number): Promise<void> {
  const beginMs = performance.now();
  for (let file = 0; file < count; ) {
    const due = Math.min(count, Math.ceil(((performance.now() - beginMs + stepMs) / 1_000) * perSecond));
    const writes: Promise<void>[] = [];
    for (; file < due; file++) writes.push(writeFile(join(member.folder, directoryOf(name, file), `${file}`), 'x'));
    await Promise.all(writes);
    await wait(stepMs);
  }
}

/** A few files in each: of more, the feed would make one line. */
const directoryOf = (name: string, file: number): string => `${name}-${Math.floor(file / 4)}`;

async function makeDirectories(member: Member, name: string, files: number): Promise<void> {
  for (let file = 0; file < files; file += 4) await mkdir(join(member.folder, directoryOf(name, file)));
}

async function untilJournaled(member: Member, files: number): Promise<void> {
  const journaled = async (): Promise<number> => (await member.status()).files;
  await expect.poll(journaled, { timeout: 300_000, intervals: [500] }).toBe(files);
}

/** Resolves when the page shows the newest operation of the member's journal. */
async function untilShown(page: Page, member: Member): Promise<void> {
  const answer = await member.fetch('api/v1/ops?limit=1');
  const [newest] = ((await answer.json()) as OperationsPage).operations;
  if (newest === undefined) throw new Error('the journal is empty');
  await expect(page.getByRole('button').filter({ hasText: newest.path })).toBeVisible();
}

/** Scrolls to the end, a part in each frame, and returns the duration. */
async function scrollThrough(page: Page): Promise<number> {
  const begin = performance.now();
  await page.getByRole('region', { name: 'Operations, newest first' }).evaluate(
    (scroller, frames) =>
      new Promise<void>((done) => {
        const part = (scroller.scrollHeight - scroller.clientHeight) / frames;
        let frame = 0;
        const step = () => {
          scroller.scrollTop = part * ++frame;
          if (frame < frames) requestAnimationFrame(step);
          else done();
        };
        requestAnimationFrame(step);
      }),
    scrollFrames,
  );
  return performance.now() - begin;
}

const busyMsOf = ({ tasksMs }: PageWork): number => tasksMs.reduce((sum, taskMs) => sum + taskMs, 0);

function note(what: string, work: PageWork, tookMs: number): void {
  const { tasksMs, framesMs, dropped } = work;
  const busyMs = busyMsOf(work);
  results.push(
    {
      name: `page: ${what}: a frame, p95`,
      unit: 'ms',
      lockstep: [partOf(framesMs, 0.95)],
      target: { atMost: 50 },
      goal: { atMost: 33 },
      note: `${framesMs.length} frames on the screen, ${describeMs(framesMs)}; ${dropped} late`,
    },
    {
      name: `page: ${what}: longest task of the main thread`,
      unit: 'ms',
      lockstep: [partOf(tasksMs, 1)],
      target: { atMost: 50 },
      goal: { atMost: 16 },
      note: 'processor time',
    },
    {
      name: `page: ${what}: main thread`,
      unit: '%',
      lockstep: [(busyMs / tookMs) * 100],
      target: { atMost: 50 },
      goal: { atMost: 20 },
      note: `of one processor: ${Math.round(busyMs)} ms in ${Math.round(tookMs)} ms`,
    },
  );
}

async function heapMiB(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 1024 ** 2;
}

/** Records the time at which the members are shown and the main thread is free. It runs in the page before its own scripts. */
function noteMembers(): void {
  const observer = new MutationObserver(() => {
    if (document.querySelector('tbody tr') === null) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => Object.assign(window, { membersMs: performance.now() })));
  });
  observer.observe(document, { childList: true, subtree: true });
}

async function loadMs(page: Page, url: string): Promise<number> {
  await page.goto(url);
  const handle = await page.waitForFunction(() => (window as unknown as { membersMs?: number }).membersMs);
  return (await handle.jsonValue()) ?? Number.NaN;
}
