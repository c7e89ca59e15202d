import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { expect, test, vi } from 'vitest';
import { WorkerPool, type WorkerPoolOptions, workersFromEnvironment } from './worker-pool.ts';

/** A thread that answers each job. */
class AnsweringThread extends EventEmitter {
  postMessage(): void {
    setImmediate(() => this.emit('message', { output: 'done' }));
  }

  terminate(): void {}
}

/** A pool on a system that allows so many threads. */
function poolWith(threads: number, calls: Pick<WorkerPoolOptions, 'onFatal' | 'onFewer'>): WorkerPool {
  let left = threads;
  const start = (): Worker => {
    if (left-- <= 0) throw new Error('EAGAIN');
    return new AnsweringThread() as unknown as Worker;
  };
  return new WorkerPool({ places: {} as WorkerPoolOptions['places'], start, ...calls });
}

test('[CL20] if the system allows no second thread, the first one does all jobs', async () => {
  const [onFatal, onFewer] = [vi.fn(), vi.fn()];
  const pool = poolWith(1, { onFatal, onFewer });
  const jobs = (['urgent', 'background', 'any', 'background'] as const).map((lane) =>
    pool.run('mapped', undefined, lane),
  );
  expect(await Promise.all(jobs)).toEqual(['done', 'done', 'done', 'done']);
  expect(onFewer).toHaveBeenCalledOnce();
  expect(onFatal).not.toHaveBeenCalled();
  await pool.close();
});

test('[CL20] if the system allows no thread at all, that is fatal, and the jobs fail', async () => {
  const onFatal = vi.fn();
  const pool = poolWith(0, { onFatal });
  await expect(pool.run('mapped', undefined)).rejects.toThrow('raise the limit of processes');
  expect(onFatal).toHaveBeenCalledOnce();
});

test('an agent has two workers unless LOCKSTEP_WORKERS requests another number', () => {
  expect(workersFromEnvironment(undefined)).toBe(2);
  expect(workersFromEnvironment('')).toBe(2);
  expect(workersFromEnvironment('1')).toBe(1);
  expect(workersFromEnvironment('4')).toBe(4);
});

test.each(['0', '9', '12', 'two', '-1', '1.5'])('LOCKSTEP_WORKERS=%s is refused', (setting) => {
  expect(() => workersFromEnvironment(setting)).toThrow('LOCKSTEP_WORKERS');
});
