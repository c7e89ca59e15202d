import { Worker } from 'node:worker_threads';
import type { ApplyStep } from '../fault-point.ts';
import type { KnownMounts } from '../mounts/mount-identity.ts';
import type { OpenedPlaces } from '../places.ts';
import type {
  JobMessage,
  JobName,
  JobOrder,
  JobRunner,
  Jobs,
  Lane,
  WorkerMessage,
  WorkerOptions,
} from './worker-job.ts';
import { closingIndex, progressBytes, progressIndex } from './worker-progress.ts';

/** One for urgent and one for background jobs. The second starts when it is first needed. */
const workersUsual = 2;

/** The number of workers that LOCKSTEP_WORKERS requests, for the bench only. One worker takes all jobs. */
export function workersFromEnvironment(setting: string | undefined): number {
  if (setting === undefined || setting === '') return workersUsual;
  if (!/^[1-8]$/.test(setting)) throw new Error(`LOCKSTEP_WORKERS is not a number from 1 to 8: ${setting}`);
  return Number(setting);
}

/** Bounds the heap of one worker: a batch is a few thousand small objects, and file contents are outside the heap. */
const heapLimits = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 8 };

/** The way out if a thread cannot be started. */
export const threadsWayOut =
  'raise the limit of processes (ulimit -u, TasksMax= of the service, or that of the container)';

/** The time after which a further thread that could not be started is tried again. */
const startAgainMs = 60_000;

interface Waiting {
  readonly message: JobMessage;
  readonly transfer: readonly ArrayBuffer[];
  readonly lane: Lane;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  busyWith: Waiting | undefined;
  /** The memory shared with the worker: see `countProgress`. */
  readonly progress: Int32Array;
  /** The counter at the last `stalledMs`, and since when it is unchanged, by the monotonic clock. */
  seenProgress: number;
  seenJob: Waiting | undefined;
  sinceMs: number;
}

export interface WorkerPoolOptions {
  readonly places: OpenedPlaces;
  /** A worker ended unexpectedly: no file can be read or written any more. */
  readonly onFatal: (error: Error) => void;
  /** A further worker could not be started: the others do its work. */
  readonly onFewer?: ((error: unknown) => void) | undefined;
  readonly faultPoint?: ((step: ApplyStep) => void) | undefined;
  /** Starts a thread. Throws if the system allows no more. */
  readonly start?: ((workerData: WorkerOptions) => Worker) | undefined;
}

function startWorker(workerData: WorkerOptions): Worker {
  return new Worker(workerFile(), {
    workerData,
    resourceLimits: heapLimits,
    name: 'lockstep-folder',
    // Options of the main script, such as loaders, do not apply to the worker.
    execArgv: [],
  });
}

/** The worker's compiled file, even if this file runs from source. */
function workerFile(): URL {
  const here = new URL('./worker.js', import.meta.url);
  return import.meta.url.endsWith('.ts') ? new URL(here.href.replace('/src/', '/dist/')) : here;
}

/** Distributes jobs to worker threads, one at a time to each. */
export class WorkerPool implements JobRunner {
  readonly #options: WorkerPoolOptions;
  readonly #gate: SharedArrayBuffer | undefined;
  #workersMax = workersFromEnvironment(process.env.LOCKSTEP_WORKERS);
  readonly #threads: Thread[] = [];
  readonly #queue: Waiting[] = [];
  mounts: KnownMounts;
  #failure: Error | undefined;
  #closing = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.mounts = options.places.mounts;
    this.#gate = options.faultPoint && new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  }

  run<Name extends JobName>(
    job: Name,
    input: Jobs[Name]['input'],
    lane: Lane = 'any',
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Jobs[Name]['output']> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#closing) return Promise.reject(new Error('The folder is closed.'));
    return new Promise<unknown>((resolve, reject) => {
      this.#queue.push({ message: { job, input } as JobMessage, transfer, lane, resolve, reject });
      this.#dispatch();
    }) as Promise<Jobs[Name]['output']>;
  }

  stalledMs(): number {
    const nowMs = performance.now();
    let longestMs = 0;
    for (const thread of this.#threads) {
      const progress = Atomics.load(thread.progress, progressIndex);
      const isStuck =
        thread.busyWith !== undefined && thread.busyWith === thread.seenJob && progress === thread.seenProgress;
      if (!isStuck) Object.assign(thread, { seenJob: thread.busyWith, seenProgress: progress, sinceMs: nowMs });
      longestMs = Math.max(longestMs, nowMs - thread.sinceMs);
    }
    return longestMs;
  }

  async close(): Promise<void> {
    this.#closing = true;
    for (const { progress } of this.#threads) Atomics.store(progress, closingIndex, 1);
    await Promise.allSettled(this.#threads.map((thread) => this.#idle(thread)));
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
  }

  readonly #whenIdle = new Map<Thread, () => void>();

  #idle(thread: Thread): Promise<void> {
    if (thread.busyWith === undefined || this.#failure !== undefined) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.set(thread, resolve));
  }

  #dispatch(): void {
    for (let index = 0; index < this.#queue.length; ) {
      const waiting = this.#queue[index];
      const thread = waiting && this.#freeThread(waiting.lane);
      if (waiting === undefined || thread === undefined) {
        index += 1;
        continue;
      }
      this.#queue.splice(index, 1);
      thread.busyWith = waiting;
      thread.worker.postMessage({ ...waiting.message, mounts: this.mounts } satisfies JobOrder, waiting.transfer);
    }
  }

  #freeThread(lane: Lane): Thread | undefined {
    const first = lane === 'background' ? Math.min(1, this.#workersMax - 1) : 0;
    const last = lane === 'urgent' ? 0 : this.#workersMax - 1;
    for (let index = first; index <= last; index++) {
      if (this.#threads.length <= index && !this.#startAll(index)) {
        return this.#threads.length === 0 ? undefined : this.#freeThread(lane);
      }
      const thread = this.#threads[index];
      if (thread?.busyWith === undefined) return thread;
    }
    return undefined;
  }

  /** Starts the threads up to `index`. False if the system allows no more: those that there are then do all jobs, for a while. */
  #startAll(index: number): boolean {
    try {
      while (this.#threads.length <= index) this.#threads.push(this.#start());
      return true;
    } catch (error) {
      const wanted = this.#workersMax;
      if (this.#threads.length === 0) {
        const failure = new Error(`it could not be started, ${String(error)}; ${threadsWayOut}`, { cause: error });
        // As if it had ended: the caller of a job is not the one to tell.
        setImmediate(() => this.#failed(failure));
      } else {
        this.#workersMax = this.#threads.length;
        const again = (): void => {
          this.#workersMax = wanted;
        };
        setTimeout(again, startAgainMs).unref();
        this.#options.onFewer?.(error);
      }
      return false;
    }
  }

  #start(): Thread {
    const progress = new SharedArrayBuffer(progressBytes);
    const workerData: WorkerOptions = { places: this.#options.places, progress, stepGate: this.#gate };
    const worker = (this.#options.start ?? startWorker)(workerData);
    const thread: Thread = {
      worker,
      busyWith: undefined,
      progress: new Int32Array(progress),
      seenProgress: 0,
      seenJob: undefined,
      sinceMs: performance.now(),
    };
    worker.on('message', (message: WorkerMessage) => this.#received(thread, message));
    worker.on('error', (error) => this.#failed(error instanceof Error ? error : new Error(String(error))));
    worker.on('exit', (code) => {
      if (!this.#closing) this.#failed(new Error(`a worker of the folder ended with code ${code}`));
    });
    return thread;
  }

  #received(thread: Thread, message: WorkerMessage): void {
    if ('step' in message) {
      this.#passStep(message.step);
      return;
    }
    const waiting = thread.busyWith;
    thread.busyWith = undefined;
    if ('error' in message) waiting?.reject(message.error);
    else waiting?.resolve(message.output);
    this.#dispatch();
    if (this.#closing && thread.busyWith === undefined) this.#whenIdle.get(thread)?.();
  }

  #passStep(step: ApplyStep): void {
    try {
      this.#options.faultPoint?.(step);
    } finally {
      if (this.#gate !== undefined) {
        const passed = new Int32Array(this.#gate);
        Atomics.add(passed, 0, 1);
        Atomics.notify(passed, 0);
      }
    }
  }

  /** A worker ended unexpectedly, for instance out of memory. The state of its job is unknown: the agent must restart. */
  #failed(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    for (const { busyWith } of this.#threads) busyWith?.reject(error);
    for (const waiting of this.#queue.splice(0)) waiting.reject(error);
    for (const release of this.#whenIdle.values()) release();
    this.#options.onFatal(error);
  }
}
