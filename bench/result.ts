/** The programs that a workload runs through, in the order of the table. */
export const programs = ['lockstep', 'cp', 'rsync', 'rsyncDelta', 'lsyncd', 'syncthing', 'gluster'] as const;
export type ProgramName = (typeof programs)[number];

/** One number for each repetition, by the program that did the work. */
export type Series = { readonly [name in ProgramName]?: readonly number[] | undefined };

/** An upper limit for Lockstep's median: a factor of the median of rsync, or of its delta transfer, or a number in the result's unit. */
export type Bound = { readonly timesRsync: number } | { readonly timesDelta: number } | { readonly atMost: number };

/** The result of one workload in its unit. */
export interface Result extends Series {
  readonly name: string;
  readonly unit: 'ms' | 'MiB' | '%' | 's' | '×';
  readonly lockstep: readonly number[];
  /** The figure that must be reached. */
  readonly target: Bound;
  readonly goal: Bound;
  readonly note?: string | undefined;
  /** Seconds of processor time of all processes of a program; without those that made the change. */
  readonly processorS?: Series;
  /** MiB that went through the loopback device, with the headers of TCP; only for programs that use it. */
  readonly wireMiB?: Series;
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
export function limitOf(result: Result, bound: Bound): number {
  if ('atMost' in bound) return bound.atMost;
  if ('timesDelta' in bound) return bound.timesDelta * median(result.rsyncDelta ?? []);
  return bound.timesRsync * median(result.rsync ?? []);
}
