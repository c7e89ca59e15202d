import type { KnownMounts } from '../../fs/mounts/mount-identity.ts';
import type { Places } from '../../fs/places.ts';
import { runJob } from '../../fs/worker/jobs.ts';
import type { JobMessage, JobName, JobRunner, Jobs } from '../../fs/worker/worker-job.ts';
import type { ActionRequest } from '../../sync/ports/folder.ts';
import type { Life } from '../base/life.ts';
import type { Scheduler } from '../base/scheduler.ts';
import type { ReplaceWatch } from './replace-watch.ts';
import type { SimCalls } from './sim-calls.ts';

/** The environment of the jobs in one life of an agent. */
export interface JobEnvironment {
  readonly places: Places;
  readonly calls: SimCalls;
  readonly replacements: ReplaceWatch;
  readonly scheduler: Scheduler;
  readonly life: Life;
  /** Draws the delay before a job begins. */
  readonly waitMs: () => number;
  /** Adds the result of an action to the story. */
  readonly record: (what: () => string) => void;
}

/**
 * Runs the jobs of a folder's worker threads, one after the other. Each runs at one virtual time, with others acting between its system
 * calls. Its result is delayed by the time that these took.
 */
export class SimJobs implements JobRunner {
  mounts: KnownMounts;
  readonly #environment: JobEnvironment;
  #freeAtMs = 0;

  constructor(environment: JobEnvironment) {
    this.#environment = environment;
    this.mounts = environment.places.mounts;
  }

  run<Name extends JobName>(job: Name, input: Jobs[Name]['input']): Promise<Jobs[Name]['output']> {
    return whileAlive(this.#environment.life, async () => {
      const { scheduler, life, waitMs } = this.#environment;
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
    const { scheduler, life } = this.#environment;
    while (scheduler.nowMs < this.#freeAtMs) await scheduler.pause(this.#freeAtMs - scheduler.nowMs, life);
  }

  #do(message: JobMessage): Jobs[JobName]['output'] {
    const { calls, replacements, places, scheduler, record } = this.#environment;
    replacements.begin();
    const [output, elapsedMs] = calls.during(() => runJob({ ...places, mounts: this.mounts }, message));
    this.#freeAtMs = scheduler.nowMs + elapsedMs;
    if (message.job === 'apply') {
      const { results } = output as Jobs['apply']['output'];
      for (const [index, request] of message.input.entries()) {
        record(() => `  apply ${describe(request)}: ${results[index]?.result}`);
      }
    }
    return output;
  }
}

/** Runs `body` with a promise that never settles once the agent has crashed. */
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
