import { setTimeout as pause } from 'node:timers/promises';

export interface Patience {
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
}

/** Tries until `attempt` does not fail any more and answers what it did; when the time is over, fails as the last attempt did. */
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
