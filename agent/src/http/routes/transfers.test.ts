import { throughputSampleMs, throughputSchema } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { ServedCluster } from '../../../test/support/served-cluster.ts';

test('[API13] the throughput of the last minutes, in operations and bytes', async () => {
  const served = await ServedCluster.open(['ant', 'bee']);
  const { scheduler } = served.cluster;
  await scheduler.run(scheduler.nowMs + 60_000);
  const app = await served.server();
  const { everyMs, samples } = throughputSchema.parse((await app.inject('/api/v1/throughput')).json());
  expect(everyMs).toBe(throughputSampleMs);
  expect(samples.length).toBeGreaterThanOrEqual(4);
  for (const [index, { at }] of samples.slice(1).entries()) {
    expect(at - (samples[index]?.at ?? 0)).toBeGreaterThanOrEqual(throughputSampleMs);
  }
});
