import { latenciesSchema, latencyHistorySchema, recentLatenciesSchema } from '@lockstep/shared/api';
import { expect, test, vi } from 'vitest';
import type { Member } from '../../testkit/member.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee', 'cat'], { proxied: true });

const patience = { timeout: 30_000, interval: 200 };

/** The matrix from member `asked`, by names: `ant>bee`. */
async function matrix(asked: Member): Promise<Map<string, number | null>> {
  const names = new Map((await asked.status()).members.map(({ id, name }) => [id, name]));
  const { latencies } = latenciesSchema.parse(await asked.get('/latencies'));
  return new Map(latencies.map(({ from, to, rttMs }) => [`${names.get(from)}>${names.get(to)}`, rttMs]));
}

test('[LT1] any member knows the whole matrix, and which pairs were cut off from each other', async () => {
  const [ant, bee, cat] = ['ant', 'bee', 'cat'].map((name) => cluster().member(name)) as [Member, Member, Member];
  await vi.waitFor(async () => {
    const known = await matrix(ant);
    expect(known.size).toBe(6);
    for (const rttMs of known.values()) expect(rttMs).toBeGreaterThan(0);
  }, patience);
  const idOf = async (member: Member) => (await member.status()).member.id;
  const pair = `from=${await idOf(bee)}&to=${await idOf(cat)}`;
  await vi.waitFor(async () => {
    const { samples } = latencyHistorySchema.parse(await ant.get(`/latencies/history?${pair}`));
    expect(samples.length).toBeGreaterThan(0);
    expect(samples[0]?.rttMs).toBeGreaterThan(0);
  }, patience);
  const { members } = recentLatenciesSchema.parse(await ant.get('/latencies/recent'));
  expect(members).toHaveLength(2);

  cluster().link('bee', 'cat', 'cut');
  await vi.waitFor(async () => {
    const known = await matrix(ant);
    expect([...known].filter(([, rttMs]) => rttMs === null).map(([name]) => name)).toEqual(['bee>cat', 'cat>bee']);
  }, patience);
  const { latencies } = latenciesSchema.parse(await ant.get('/latencies'));
  for (const { at } of latencies) expect(at).toBeGreaterThan(0);
  await vi.waitFor(async () => {
    const { samples } = latencyHistorySchema.parse(await ant.get(`/latencies/history?${pair}`));
    expect(samples.at(-1)?.rttMs).toBeNull();
  }, patience);
});

test('the history of an unknown member is refused by name', async () => {
  const ant = cluster().member('ant');
  const { id } = (await ant.status()).member;
  const response = await ant.fetch(`api/v1/latencies/history?from=${id}&to=nobody`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { message: 'No member of the cluster has the id "nobody".' } });
});
