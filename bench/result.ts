/** The result of one workload in its unit, one number for each repetition. */
export interface Result {
  readonly name: string;
  readonly unit: 'ms' | 'MiB' | '%';
  readonly lockstep: readonly number[];
  readonly cp?: readonly number[] | undefined;
  readonly rsync?: readonly number[] | undefined;
  /** The figure that must be reached: a factor of rsync's median, or a number in `unit`. */
  readonly target: { readonly timesRsync: number } | { readonly atMost: number };
  readonly goal: { readonly timesRsync: number } | { readonly atMost: number };
  readonly note?: string | undefined;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return (low + high) / 2;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/** The upper limit for the median. */
export function limitOf(result: Result, bound: Result['target']): number {
  return 'atMost' in bound ? bound.atMost : bound.timesRsync * median(result.rsync ?? []);
}
