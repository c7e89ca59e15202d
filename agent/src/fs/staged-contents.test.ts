import type { ContentId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { BlockBuffers } from '../os/block-buffers.ts';
import { contentOfText, virtualContent } from '../sim/disk/content.ts';
import { StagedContents } from './staged-contents.ts';
import type { JobRunner } from './worker/worker-job.ts';

/** Workers whose jobs end when the test lets them, one at a time. */
class HeldJobs {
  readonly begun: string[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly runner = {
    run: (job: string, input: { readonly blocks: readonly unknown[] }) => {
      this.begun.push(job);
      const output = job === 'stageBlocks' ? input.blocks.map(() => 'ok') : 'ok';
      return new Promise((resolve) => this.#waiting.push(() => resolve(output)));
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
  const staged = new StagedContents(jobs.runner, new BlockBuffers(), []);
  const all = [0, 1, 2].map((index) => staged.stage(requestOf(index)));
  await jobs.end();
  expect(await Promise.all(all)).toEqual(['ok', 'ok', 'ok']);
  expect(staged.isComplete(content.id)).toBe(true);
  const action = staged.use([content.id], () => jobs.runner.run('apply', { requests: [] } as never));
  const dropped = staged.drop(content.id);
  const again = staged.stage(requestOf(2));
  const other = staged.use([contentOfText('other').id], () => jobs.runner.run('apply', { requests: [] } as never));
  await jobs.end();
  expect(jobs.begun.slice(1)).toEqual(['apply', 'apply', 'unstage']);
  await jobs.end();
  await jobs.end();
  expect(jobs.begun.slice(1)).toEqual(['apply', 'apply', 'unstage', 'stageBlocks']);
  await jobs.end();
  await Promise.all([action, dropped, again, other]);
  expect(staged.isComplete(content.id)).toBe(false);
});

test('[CT27] blocks that come while others are written are written in one job', async () => {
  const jobs = new HeldJobs();
  const large = virtualContent('v2', 20 * 1_048_576);
  const staged = new StagedContents(jobs.runner, new BlockBuffers(), []);
  const stage = (index: number) =>
    staged.stage({ ...large, content: large.id, index, bytes: large.parts[index] ?? new Uint8Array() });
  const first = stage(0);
  await new Promise((resolve) => setImmediate(resolve));
  const rest = Array.from({ length: 19 }, (_, index) => stage(index + 1));
  await jobs.end();
  expect(await first).toBe('ok');
  for (let job = 0; job < 3; job++) await jobs.end();
  expect(await Promise.all(rest)).toEqual(rest.map(() => 'ok'));
  expect(jobs.begun).toEqual(['stageBlocks', 'stageBlocks', 'stageBlocks', 'stageBlocks']);
  expect(staged.isComplete(large.id)).toBe(true);
});

test('[CT27] the memory of a block is free once it is written or refused', async () => {
  const jobs = new HeldJobs();
  const buffers = new BlockBuffers();
  const staged = new StagedContents(jobs.runner, buffers, []);
  const bytes = buffers.take(1_048_576);
  const written = staged.stage({ ...requestOf(0), bytes });
  expect(buffers.take(1_048_576).buffer).not.toBe(bytes.buffer);
  await jobs.end();
  expect(await written).toBe('ok');
  const again = buffers.take(1_048_576);
  expect(again.buffer).toBe(bytes.buffer);
  expect(await staged.stage({ ...requestOf(99), bytes: again })).toBe('corrupt');
  expect(buffers.take(1_048_576).buffer).toBe(bytes.buffer);
});
