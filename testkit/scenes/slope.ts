export interface Sample {
  readonly atMs: number;
  readonly value: number;
}

const hourMs = 3_600_000;

/** The growth of the value in an hour: the slope of the least-squares line. 0 for fewer than two samples. */
export function slopePerHour(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [meanMs, meanValue] = [mean(({ atMs }) => atMs), mean(({ value }) => value)];
  let [products, squares] = [0, 0];
  for (const { atMs, value } of samples) {
    products += (atMs - meanMs) * (value - meanValue);
    squares += (atMs - meanMs) ** 2;
  }
  return squares === 0 ? 0 : (products / squares) * hourMs;
}
