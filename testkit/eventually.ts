import { setTimeout as pause } from 'node:timers/promises';

export interface Patience {
  readonly timeoutMs?: number;
  /** Without it the pauses grow. */
  readonly intervalMs?: number;
}

/** The pauses between attempts without an interval. Most conditions hold soon; each attempt at another takes time of the agents, which they need. */
const pauseMs = { first: 20, growth: 1.5, longest: 250 };

/** Repeats `attempt` until it succeeds, and returns its result. After the timeout it fails with the error of the last attempt. */
export async function eventually<Result>(
  attempt: () => Promise<Result> | Result,
  { timeoutMs = 30_000, intervalMs }: Patience = {},
): Promise<Result> {
  const untilMs = performance.now() + timeoutMs;
  for (let nextMs = pauseMs.first; ; nextMs = Math.min(nextMs * pauseMs.growth, pauseMs.longest)) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() >= untilMs) throw error;
    }
    await pause(intervalMs ?? nextMs);
  }
}
