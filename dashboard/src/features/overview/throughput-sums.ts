import type { Throughput } from '@lockstep/shared/api';

/** The samples as a line, and their sums. */
export function throughputSums(samples: Throughput['samples']) {
  const sumOf = (key: 'operations' | 'receivedBytes' | 'sentBytes'): number =>
    samples.reduce((sum, sample) => sum + sample[key], 0);
  return {
    at: samples.map(({ at }) => at),
    operations: samples.map(({ operations }) => operations),
    total: sumOf('operations'),
    receivedBytes: sumOf('receivedBytes'),
    sentBytes: sumOf('sentBytes'),
  };
}
