import { writeFile } from 'node:fs/promises';
import { beatsSchema, healthEventsSchema, latencySpanSchema } from '@lockstep/shared/api';
import { expect, test, vi } from 'vitest';
import type { Member } from '../../testkit/member.ts';
import { openShiftedClock } from '../../testkit/vitest/shifted-clock.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

const patience = { timeout: 60_000, interval: 200 };

/** The newest events, oldest first, as `kind name`. */
async function events(member: Member): Promise<readonly string[]> {
  const { events } = healthEventsSchema.parse(await member.get('/health/events'));
  return events.map(({ kind, name }) => `${kind} ${name}`).reverse();
}

/** For how long a member was in this condition in the last hour, as `at` has noted it. */
async function secondsOf(at: Member, id: string | undefined, condition: 'active' | 'down'): Promise<number> {
  const { members } = beatsSchema.parse(await at.get('/health/beats?span=1h'));
  const beats = members.find(({ member }) => member === id)?.beats ?? [];
  return beats.reduce((sum, { seconds }) => sum + (seconds[condition] ?? 0), 0);
}

test('[HH1] [HH2] [HH3] [HH4] [HH7] a member keeps what happened to the others, over a restart of its agent', async () => {
  const clock = await openShiftedClock();
  const cluster = await startCluster(['ant', 'bee'], { start: { env: clock.env } });
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  const [antId, beeId] = await Promise.all([ant, bee].map(async (member) => (await member.status()).member.id));
  await vi.waitFor(async () => expect(await events(ant)).toContain('started ant'), patience);
  // The members are examined every few seconds: the first time, bee may not have been there yet.
  await vi.waitFor(async () => expect(await secondsOf(ant, beeId, 'active')).toBeGreaterThan(0), patience);
  await bee.kill();
  await vi.waitFor(async () => expect((await events(ant)).at(-1)).toBe('down bee'), patience);
  await vi.waitFor(async () => expect(await secondsOf(ant, beeId, 'down')).toBeGreaterThan(0), patience);
  await ant.stop();
  await ant.start();
  await bee.start();
  await cluster.connected();
  await vi.waitFor(async () => expect((await events(ant)).at(-1)).toBe('back bee'), patience);
  const all = await events(ant);
  expect(all.slice(all.indexOf('down bee'))).toEqual(['down bee', 'stopped ant', 'started ant', 'back bee']);
  const older = healthEventsSchema.parse(await ant.get('/health/events?limit=2&before=3'));
  expect(older.events.map(({ number }) => number)).toEqual([2, 1]);
  expect(
    healthEventsSchema
      .parse(await ant.get(`/health/events?member=${beeId}`))
      .events.every(({ name }) => name === 'bee'),
  ).toBe(true);

  expect(beatsSchema.parse(await ant.get('/health/beats?span=1h')).everyMs).toBe(60_000);
  expect(await secondsOf(ant, antId, 'active')).toBeGreaterThan(0);
  expect(await secondsOf(ant, beeId, 'active')).toBeGreaterThan(0);
  expect(await secondsOf(ant, beeId, 'down')).toBeGreaterThan(0);
  await vi.waitFor(
    async () => {
      // The round trips of a minute are kept at its end, if there are any.
      clock.advance(60_000);
      const { points } = latencySpanSchema.parse(await ant.get(`/health/latency?from=${antId}&to=${beeId}&span=1h`));
      expect(points.some(({ most }) => (most ?? 0) > 0)).toBe(true);
    },
    { ...patience, interval: 1_000 },
  );
  const response = await ant.fetch(`api/v1/health/latency?from=${antId}&to=nobody`);
  expect(response.status).toBe(400);
}, 240_000);

test('[HH6] a history that is damaged while the agent is stopped is begun again', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  await ant.stop();
  await writeFile(ant.state('health.db'), 'this is no database');
  await ant.start();
  await vi.waitFor(async () => expect(await events(ant)).toEqual(['started ant']), patience);
  expect(ant.log.join('\n')).toContain('health.db cannot be used');
});
