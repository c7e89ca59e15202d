/**
 * The wait before the next attempt, in milliseconds, after `attempt` failures in a row (from 0): exponential backoff with equal jitter. The
 * waits double from `minMs` to `maxMs`. Half of each is drawn by `random01` (0 inclusive to 1 exclusive). So members that lost the same
 * peer at the same moment do not return in step. The result lies between `minMs` and `maxMs`.
 */
export function backoffMs(
  attempt: number,
  limits: { readonly minMs: number; readonly maxMs: number },
  random01: number,
): number {
  const { minMs, maxMs } = limits;
  const ceiling = Math.min(maxMs, minMs * 2 ** (attempt + 1));
  const floor = Math.min(ceiling, Math.max(minMs, ceiling / 2));
  return floor + (ceiling - floor) * random01;
}
