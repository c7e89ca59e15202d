import { writeFile } from 'node:fs/promises';
import { clusterVerdict } from '@lockstep/shared/present';
import { expect, test, vi } from 'vitest';
import { lockstep, type Member } from '../../testkit/member.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee', 'cat'], { proxied: true });

const patience = { timeout: 30_000, interval: 100 };

/** The row of one member as another one reports it. */
async function seen(by: Member, name: string) {
  return (await by.status()).members.find((member) => member.name === name);
}

test('[MB12] [MB13] [AK8] a pair that is cut off hears of each other by way of a third member, and waits for each other', async () => {
  const [ant, bee, cat] = ['ant', 'bee', 'cat'].map((name) => cluster().member(name)) as [Member, Member, Member];
  const bees = (await bee.status()).member.id;
  cluster().link('ant', 'cat', 'cut');
  const cutOff = { condition: 'cut-off', state: 'active', connected: false, via: bees };
  await vi.waitFor(async () => expect(await seen(ant, 'cat')).toMatchObject(cutOff), patience);
  await vi.waitFor(async () => expect(await seen(cat, 'ant')).toMatchObject(cutOff), patience);

  await writeFile(ant.path('file'), 'written by ant');
  expect(await lockstep(['wait', ant.folder, '--for', 'all', '--timeout', '60'])).toMatchObject({ code: 0 });
  await vi.waitFor(async () => expect(await seen(ant, 'cat')).toMatchObject({ ...cutOff, behind: 0 }), patience);
  await vi.waitFor(async () => expect(await seen(cat, 'ant')).toMatchObject({ ...cutOff, behind: 0 }), patience);
  await vi.waitFor(async () => {
    const { tone, text } = clusterVerdict(await ant.status());
    expect({ tone, text }).toEqual({
      tone: 'held',
      text: 'ant and cat are cut off from each other, and bee reaches both.',
    });
  }, patience);
  expect((await lockstep(['why', ant.path('file')])).out).toMatch(/yes {2}cat \(cut off\)/);

  expect(await lockstep(['pause', cat.folder])).toMatchObject({ code: 0 });
  await vi.waitFor(async () => expect(await seen(ant, 'cat')).toMatchObject({ condition: 'paused' }), patience);
  await vi.waitFor(async () => expect(await seen(cat, 'ant')).toMatchObject({ condition: 'unknown' }), patience);
  expect(await lockstep(['resume', cat.folder])).toMatchObject({ code: 0 });
  await vi.waitFor(async () => expect(await seen(ant, 'cat')).toMatchObject(cutOff), patience);

  await cat.kill();
  await vi.waitFor(async () => expect(await seen(ant, 'cat')).toMatchObject({ condition: 'down' }), patience);
  expect((await seen(ant, 'cat'))?.via).toBeUndefined();
});
