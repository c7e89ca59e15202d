import type { KnownMounts } from '../../fs/mounts/mounts.ts';
import type { Places } from '../../fs/places.ts';
import { runJob } from '../../fs/worker/jobs.ts';
import type { JobMessage, JobName, JobRunner, Jobs } from '../../fs/worker/worker-job.ts';
import type { ActionRequest } from '../../sync/ports/folder.ts';
import type { Life } from '../base/life.ts';
import type { Scheduler } from '../base/scheduler.ts';
import type { LookWatch } from './look-watch.ts';
import type { SimCalls } from './sim-calls.ts';

/** What the jobs of one life of an agent run on. */
export interface Workshop {
  readonly places: Places;
  readonly calls: SimCalls;
  readonly looks: LookWatch;
  readonly scheduler: Scheduler;
  readonly life: Life;
  /** The time that passes before a job begins, at most. */
  readonly waitMs: () => number;
  /** Tells the story of the run what an action came to. */
  readonly tell: (what: () => string) => void;
}

/**
 * Does the jobs of a folder's worker threads, one after the other. Each runs as a whole at one virtual time, others between its system calls;
 * its answer comes when the time that these took is over.
 */
export class SimJobs implements JobRunner {
  mounts: KnownMounts;
  readonly #workshop: Workshop;
  #freeAtMs = 0;

  constructor(workshop: Workshop) {
    this.#workshop = workshop;
    this.mounts = workshop.places.mounts;
  }

  run<Name extends JobName>(job: Name, input: Jobs[Name]['input']): Promise<Jobs[Name]['output']> {
    return whileAlive(this.#workshop.life, async () => {
      const { scheduler, life, waitMs } = this.#workshop;
      await scheduler.pause(waitMs(), life);
      while (scheduler.nowMs < this.#freeAtMs) await scheduler.pause(this.#freeAtMs - scheduler.nowMs, life);
      const output = this.#do({ job, input } as JobMessage);
      await scheduler.pause(this.#freeAtMs - scheduler.nowMs, life);
      return output as Jobs[Name]['output'];
    });
  }

  stalledMs(): number {
    return 0;
  }

  async close(): Promise<void> {
    const { scheduler, life } = this.#workshop;
    while (scheduler.nowMs < this.#freeAtMs) await scheduler.pause(this.#freeAtMs - scheduler.nowMs, life);
  }

  #do(message: JobMessage): Jobs[JobName]['output'] {
    const { calls, looks, places, scheduler, tell } = this.#workshop;
    looks.begin();
    const [output, elapsedMs] = calls.during(() => runJob({ ...places, mounts: this.mounts }, message));
    this.#freeAtMs = scheduler.nowMs + elapsedMs;
    if (message.job === 'apply') {
      const { results } = output as Jobs['apply']['output'];
      for (const [index, request] of message.input.entries()) {
        tell(() => `  apply ${describe(request)}: ${results[index]?.result}`);
      }
    }
    return output;
  }
}

/** A promise of a crashed agent never settles. */
export function whileAlive<T>(life: Life, body: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    body().then(
      (value) => {
        if (life.alive) resolve(value);
      },
      (error) => {
        if (life.alive) reject(error);
      },
    );
  });
}

function describe({ action }: ActionRequest): string {
  return 'path' in action ? `${action.do} ${action.path}` : `${action.do} ${action.from} to ${action.to}`;
}
