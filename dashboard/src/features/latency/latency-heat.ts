/** The limits between the colours of the heat map: one room, one site, one country, one continent, the world. */
export const heatLimitsMs = [1, 5, 20, 80, 250] as const;

/** The heat from 0, for the shortest round trips, to the number of limits. */
export function heatOf(rttMs: number): number {
  return heatLimitsMs.filter((limitMs) => rttMs >= limitMs).length;
}
