/** Where the colours of the heat map change, in milliseconds: one room, one site, one country, one continent, the world. */
export const heatLimitsMs = [1, 5, 20, 80, 250] as const;

/** From 0, as near as can be, to the number of limits. */
export function heatOf(rttMs: number): number {
  return heatLimitsMs.filter((limitMs) => rttMs >= limitMs).length;
}
