import type { Browser, Page } from '@playwright/test';

/** The browser's work for a page while it was traced. */
export interface PageWork {
  /** Processor time of each task of the page's main thread, ascending. It does not depend on other load of the machine. */
  readonly tasksMs: readonly number[];
  /** Wall-clock time from the beginning of each frame until it was on the screen, ascending. It depends on the load of the machine. */
  readonly framesMs: readonly number[];
  /** The number of frames with new content that were too late to be shown. */
  readonly dropped: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  /** Processor time of the thread, microseconds. */
  readonly tdur?: number;
  readonly id2?: { readonly local?: string };
  readonly args?: {
    readonly name?: string;
    readonly data?: { readonly frames?: readonly { readonly isInPrimaryMainFrame?: boolean; processId?: number }[] };
    readonly frame_reporter?: { readonly state?: string };
  };
}

const categories = [
  '-*',
  'disabled-by-default-devtools.timeline',
  'disabled-by-default-devtools.timeline.frame',
] as const;

/** Traces the browser's work for `page` while `body` runs. */
export async function traceWork(browser: Browser, page: Page, body: () => Promise<void>): Promise<PageWork> {
  await browser.startTracing(page, { categories: [...categories] });
  await body();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString('utf8')) as { traceEvents: TraceEvent[] };
  return workOf(traceEvents);
}

function workOf(events: readonly TraceEvent[]): PageWork {
  const process = events
    .find(({ name }) => name === 'TracingStartedInBrowser')
    ?.args?.data?.frames?.find(({ isInPrimaryMainFrame }) => isInPrimaryMainFrame)?.processId;
  const own = events.filter(({ pid }) => pid === process);
  const mainThread = own.find(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')?.tid;
  const tasks = own.filter(({ name, tid }) => name === 'RunTask' && tid === mainThread);
  const frames = own.filter(({ name }) => name === 'PipelineReporter');
  if (tasks.length === 0 || frames.length === 0) throw new Error('the trace contains nothing about the page');
  return { tasksMs: tasks.map(({ tdur = 0 }) => tdur / 1_000).sort((a, b) => a - b), ...framesOf(frames) };
}

function framesOf(events: readonly TraceEvent[]): Pick<PageWork, 'framesMs' | 'dropped'> {
  const framesMs: number[] = [];
  let dropped = 0;
  // Ids are reused by later frames: an end belongs to the last beginning with its id.
  const begun = new Map<string | undefined, TraceEvent>();
  for (const event of events.toSorted((a, b) => a.ts - b.ts)) {
    const id = event.id2?.local;
    if (event.ph === 'b') begun.set(id, event);
    const begin = begun.get(id);
    if (event.ph !== 'e' || begin === undefined) continue;
    begun.delete(id);
    const state = begin.args?.frame_reporter?.state;
    if (state === 'STATE_PRESENTED_ALL') framesMs.push((event.ts - begin.ts) / 1_000);
    if (state === 'STATE_DROPPED') dropped++;
  }
  return { framesMs: framesMs.sort((a, b) => a - b), dropped };
}

/** The value that `share` of the ascending `values` do not exceed. */
export function partOf(values: readonly number[], share: number): number {
  return values[Math.max(0, Math.ceil(share * values.length) - 1)] ?? 0;
}

/** Median, p95 and maximum of ascending milliseconds as a text. */
export function describeMs(values: readonly number[]): string {
  const [median, most, longest] = [0.5, 0.95, 1].map((share) => partOf(values, share).toFixed(1));
  return `median ${median} ms, p95 ${most} ms, longest ${longest} ms`;
}
