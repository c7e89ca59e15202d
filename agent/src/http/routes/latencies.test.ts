import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { latenciesSchema, latencyHistorySchema, recentLatenciesSchema } from '@lockstep/shared/api';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeFacade, memoryLog } from '../../../test/support/fake-facade.ts';
import { buildServer } from '../server.ts';

let app: FastifyInstance;

beforeEach(async () => {
  app = await buildServer({
    facade: new FakeFacade(),
    log: memoryLog(),
    assets: join(tmpdir(), 'lockstep-no-dashboard'),
    listen: { host: '127.0.0.1', port: 0 },
  });
});

afterEach(() => app.close());

test('[LT1] the matrix names pairs without a session as well', async () => {
  const { latencies } = latenciesSchema.parse((await app.inject('/api/v1/latencies')).json());
  expect(latencies.map(({ rttMs }) => rttMs)).toEqual([1.5, 1.4, null]);
});

test('[LT1] the history of one pair, with its gaps', async () => {
  const answer = await app.inject('/api/v1/latencies/history?from=a&to=b');
  expect(latencyHistorySchema.parse(answer.json())).toMatchObject({ from: 'a', to: 'b', everyMs: 10_000 });
  expect(answer.json().samples.map(({ rttMs }: { rttMs: number | null }) => rttMs)).toEqual([null, 1.5]);
});

test.each(['', '?from=a', '?from=&to=b'])('a history of no pair is refused: %s', async (query) => {
  const answer = await app.inject(`/api/v1/latencies/history${query}`);
  expect(answer.statusCode).toBe(400);
  expect(answer.json().error.code).toBe('request-invalid');
});

test('[LT1] what a small chart of each other member needs', async () => {
  const recent = recentLatenciesSchema.parse((await app.inject('/api/v1/latencies/recent')).json());
  expect(recent).toMatchObject({ everyMs: 60_000, members: [{ samples: [1.2, null, 1.5] }] });
});
