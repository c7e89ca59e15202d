import type { ContentId } from '@lockstep/shared';
import { expect, test, vi } from 'vitest';
import { BlockBuffers } from '../os/block-buffers.ts';
import { contentOfText, virtualContent } from '../sim/disk/content.ts';
import { StagedContents, type StagedContentsOptions } from './staged-contents.ts';
import type { JobRunner } from './worker/worker-job.ts';

/** In milliseconds: long enough for a machine that is busy with other tests. */
const patience = 20_000;

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

function stagedBy(jobs: HeldJobs, options: Partial<StagedContentsOptions> = {}): StagedContents {
  const syncStaged = async (): Promise<void> => undefined;
  return new StagedContents({ workers: jobs.runner, buffers: new BlockBuffers(), syncStaged, left: [], ...options });
}

const content = virtualContent('v1', 3 * 1_048_576);
const requestOf = (index: number) => ({
  path: 'file',
  content: content.id as ContentId,
  blocks: content.blocks,
  size: content.size,
  index,
  bytes: content.parts[index] ?? new Uint8Array(),
});

test('[CT5] a staged file is not begun again while an action takes it', async () => {
  const jobs = new HeldJobs();
  const staged = stagedBy(jobs);
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
  const staged = stagedBy(jobs);
  const stage = (index: number) =>
    staged.stage({ path: 'file', ...large, content: large.id, index, bytes: large.parts[index] ?? new Uint8Array() });
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
  const staged = stagedBy(jobs, { buffers });
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

/** A disk whose syncs end when the test lets them. */
class HeldDisk {
  readonly #begun: { readonly end: () => void; readonly fail: (error: unknown) => void }[] = [];
  readonly sync = (): Promise<void> => new Promise((end, fail) => this.#begun.push({ end, fail }));

  get syncs(): number {
    return this.#begun.length;
  }

  end(): void {
    this.#begun.at(-1)?.end();
  }

  fail(code: string): void {
    this.#begun.at(-1)?.fail(Object.assign(new Error(code), { code }));
  }
}

/** Stages the blocks of a content of four, two of which are synced at once, and writes two of them. */
async function stageHalf() {
  const jobs = new HeldJobs();
  const disk = new HeldDisk();
  const file = virtualContent('v3', 4 * 1_048_576);
  const staged = stagedBy(jobs, { syncStaged: disk.sync, syncedAtOnceBytes: 2 * 1_048_576 });
  const stage = (index: number) =>
    staged.stage({ path: 'file', ...file, content: file.id, index, bytes: file.parts[index] ?? new Uint8Array() });
  const half = [stage(0), stage(1)];
  await jobs.end();
  expect(await Promise.all(half)).toEqual(['ok', 'ok']);
  expect(disk.syncs).toBe(1);
  return { jobs, disk, file, staged, stage };
}

test('[CT29] a large content is made durable in pieces, and is complete once the last of it is', async () => {
  const { jobs, disk, stage } = await stageHalf();
  const third = stage(2);
  await jobs.end();
  expect(await third).toBe('ok');
  const fourth = stage(3);
  await jobs.end();
  expect(disk.syncs).toBe(1);
  disk.end();
  await vi.waitFor(() => expect(disk.syncs).toBe(2), patience);
  let isComplete = false;
  void fourth.then(() => {
    isComplete = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isComplete).toBe(false);
  disk.end();
  expect(await fourth).toBe('ok');
});

test('[CT29] a content of which the disk refused a piece is not complete, and says why', async () => {
  const { jobs, disk, file, staged, stage } = await stageHalf();
  const rest = [stage(2), stage(3)];
  await jobs.end();
  disk.fail('EIO');
  await vi.waitFor(() => expect(disk.syncs).toBe(2), patience);
  disk.end();
  expect(await Promise.all(rest)).toEqual(['ok', 'ok']);
  expect(staged.isComplete(file.id)).toBe(false);
  expect(staged.failure(file.id)).toMatchObject({ code: 'EIO' });
  const dropped = staged.drop(file.id);
  await jobs.end();
  await dropped;
  expect(staged.failure(file.id)).toBeUndefined();
});

test('[CT29] of several contents one is synced at a time', async () => {
  const disk = new HeldDisk();
  const jobs = new HeldJobs();
  const staged = stagedBy(jobs, { syncStaged: disk.sync, syncedAtOnceBytes: 1_048_576 });
  const all = ['v4', 'v5'].map((name) => {
    const file = virtualContent(name, 2 * 1_048_576);
    return staged.stage({
      path: 'file',
      ...file,
      content: file.id,
      index: 0,
      bytes: file.parts[0] ?? new Uint8Array(),
    });
  });
  await jobs.end();
  await jobs.end();
  expect(await Promise.all(all)).toEqual(['ok', 'ok']);
  expect(disk.syncs).toBe(1);
  disk.end();
  await vi.waitFor(() => expect(disk.syncs).toBe(2), patience);
});
