import type { ContentId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText, virtualContent } from '../sim/disk/content.ts';
import { StagedContents } from './staged-contents.ts';
import type { JobRunner } from './worker/worker-job.ts';

/** Workers whose jobs end when the test lets them, one at a time. */
class HeldJobs {
  readonly begun: string[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly runner = {
    run: (job: string) => {
      this.begun.push(job);
      return new Promise((resolve) => this.#waiting.push(() => resolve('ok')));
    },
  } as unknown as JobRunner;

  /** Ends the job that began first, and lets the next one begin. */
  async end(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#waiting.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const content = virtualContent('v1', 3 * 1_048_576);
const requestOf = (index: number) => ({
  content: content.id as ContentId,
  blocks: content.blocks,
  size: content.size,
  index,
  bytes: content.parts[index] ?? new Uint8Array(),
});

test('[CT5] a staged file is not begun again while an action takes it', async () => {
  const jobs = new HeldJobs();
  const staged = new StagedContents(jobs.runner, []);
  const all = [0, 1, 2].map((index) => staged.stage(requestOf(index)));
  for (const job of all) {
    await jobs.end();
    await job;
  }
  expect(staged.isComplete(content.id)).toBe(true);
  const action = staged.use([content.id], () => jobs.runner.run('apply', { requests: [] } as never));
  const dropped = staged.drop(content.id);
  const again = staged.stage(requestOf(2));
  const other = staged.use([contentOfText('other').id], () => jobs.runner.run('apply', { requests: [] } as never));
  await jobs.end();
  expect(jobs.begun.slice(3)).toEqual(['apply', 'apply', 'unstage']);
  await jobs.end();
  await jobs.end();
  expect(jobs.begun.slice(3)).toEqual(['apply', 'apply', 'unstage', 'stageBlock']);
  await jobs.end();
  await Promise.all([action, dropped, again, other]);
  expect(staged.isComplete(content.id)).toBe(false);
});
