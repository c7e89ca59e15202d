import { setTimeout as pause } from 'node:timers/promises';

export interface Patience {
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
}

/** Repeats `attempt` until it succeeds, and returns its result. After the timeout it fails with the error of the last attempt. */
export async function eventually<Result>(
  attempt: () => Promise<Result> | Result,
  { timeoutMs = 30_000, intervalMs = 50 }: Patience = {},
): Promise<Result> {
  const untilMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() >= untilMs) throw error;
    }
    await pause(intervalMs);
  }
}
