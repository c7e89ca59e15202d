/**
 * How long to wait before attempt number `attempt + 1` after `attempt` failures in a row, counted from 0. The waits double
 * from `minMs` to `maxMs`; half of each is drawn by `random01` (0 inclusive to 1 exclusive), so that members which lost the
 * same peer at the same moment do not come back in step. Never less than `minMs`, never more than `maxMs`.
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
