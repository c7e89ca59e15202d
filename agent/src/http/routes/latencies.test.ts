import { latenciesSchema, latencyHistorySchema, latencySampleMs, recentLatenciesSchema } from '@lockstep/shared/api';
import type { FastifyInstance } from 'fastify';
import { beforeEach, expect, test } from 'vitest';
import { ServedCluster } from '../../../test/support/served-cluster.ts';

let app: FastifyInstance;
let idOf: (name: string) => string;

/** cat has lost power after half a minute, and a minute has passed since. */
beforeEach(async () => {
  const served = await ServedCluster.open(['ant', 'bee', 'cat']);
  const { scheduler } = served.cluster;
  await scheduler.run(scheduler.nowMs + 30_000);
  await served.losePower('cat');
  await scheduler.run(scheduler.nowMs + 60_000);
  idOf = (name) => served.cluster.machine(name).id;
  app = await served.server();
});

test('[LT1] the matrix names pairs without a session as well', async () => {
  const { latencies } = latenciesSchema.parse((await app.inject('/api/v1/latencies')).json());
  expect(latencies).toHaveLength(6);
  for (const { from, to, rttMs, at } of latencies) {
    const isUp = ![from, to].includes(idOf('cat'));
    expect(rttMs === null, `${from} to ${to}`).toBe(!isUp);
    // cat measured ant and bee while it was up, and reported that.
    expect(at).toEqual(expect.any(Number));
  }
});

test('[LT1] the history of one pair, with its gaps', async () => {
  const [from, to] = [idOf('ant'), idOf('cat')];
  const answer = await app.inject(`/api/v1/latencies/history?from=${from}&to=${to}`);
  const { samples, ...pair } = latencyHistorySchema.parse(answer.json());
  expect(pair).toEqual({ from, to, everyMs: latencySampleMs });
  const known = samples.map(({ rttMs }) => rttMs !== null);
  expect(known.slice(0, 3)).toContain(true);
  expect(known.slice(-3)).toEqual([false, false, false]);
});

test.each(['', '?from=a', '?from=&to=b', '?from=a&to=b'])('a history of no pair is refused: %s', async (query) => {
  const answer = await app.inject(`/api/v1/latencies/history${query}`);
  expect(answer.statusCode).toBe(400);
  expect(answer.json().error.code).toBe('request-invalid');
});

test('[LT1] the samples for a small chart of each other member', async () => {
  const recent = recentLatenciesSchema.parse((await app.inject('/api/v1/latencies/recent')).json());
  expect(recent.everyMs).toBe(latencySampleMs);
  expect(recent.members.map(({ member }) => member).sort()).toEqual([idOf('bee'), idOf('cat')].sort());
  expect(recent.members.find(({ member }) => member === idOf('cat'))?.samples).toContain(null);
});
