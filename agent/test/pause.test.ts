import { randomBytes } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { transfersSchema } from '@lockstep/shared/api';
import { expect, test, vi } from 'vitest';
import { lockstep, type Member } from '../../testkit/member.ts';
import { startCluster, useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee']);
const namesOf = (member: Member) => readdir(member.folder);
const patience = { timeout: 20_000, interval: 50 };

test('[MB11] a paused member receives and sends nothing, also after a restart, and catches up once it is resumed', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  expect(await lockstep(['pause', bee.folder])).toMatchObject({ code: 0, out: expect.stringContaining('is paused') });
  await vi.waitFor(async () => {
    const seen = (await ant.status()).members.find(({ name }) => name === 'bee');
    expect(seen).toMatchObject({ state: 'down', condition: 'paused', connected: false });
  }, patience);
  expect((await lockstep(['status', ant.folder])).out).toContain('bee is paused');

  await writeFile(ant.path('from-ant'), 'ant');
  await bee.restart();
  await writeFile(bee.path('from-bee'), 'bee');
  await bee.rescan();
  // ant dials, and learns of the pause again.
  await vi.waitFor(async () => {
    const seen = (await ant.status()).members.find(({ name }) => name === 'bee');
    expect(seen).toMatchObject({ condition: 'paused' });
  }, patience);
  const paused = await bee.status();
  expect(paused).toMatchObject({ paused: true, synchronised: false });
  expect([await bee.metric('lockstep_paused'), await ant.metric('lockstep_paused')]).toEqual([1, 0]);
  expect(paused.members.every(({ self, connected }) => self || !connected)).toBe(true);
  expect((await lockstep(['status', bee.folder])).out).toContain('paused');
  // It is this member that is paused: nothing is to be done on the others.
  expect(await lockstep(['wait', '--timeout', '1', bee.folder])).toMatchObject({
    code: 1,
    out: expect.stringMatching(/This member is paused, so ant gets nothing from it\. Run lockstep resume here\.\n/),
  });
  expect((await lockstep(['why', 'from-bee', bee.folder])).out).toContain('ant: This member is paused.');
  const examined = (await lockstep(['doctor', bee.folder])).out;
  expect(examined).toMatch(/This member is paused: .*\n.*lockstep resume/);
  expect(examined).not.toContain('Make sure that ant is up');
  expect(await namesOf(bee)).not.toContain('from-ant');
  expect(await namesOf(ant)).not.toContain('from-bee');

  expect(await lockstep(['resume', bee.folder, '--json'])).toMatchObject({ code: 0 });
  await cluster().settled();
  for (const member of [ant, bee]) {
    expect(await namesOf(member)).toEqual(expect.arrayContaining(['from-ant', 'from-bee']));
  }
  expect(await bee.status()).toMatchObject({ paused: false, synchronised: true });
});

test('[MB11] [API7] a transfer waits while the member is paused, with that as the reason, and continues afterwards', async () => {
  const slow = await startCluster(['ant', 'bee'], { proxied: true });
  const [ant, bee] = [slow.member('ant'), slow.member('bee')];
  // Bee says with its next heartbeat that it lacks nothing any more.
  await vi.waitFor(async () => {
    const before = transfersSchema.parse(await ant.get('/transfers'));
    expect(before).toMatchObject({ transfers: [], pending: 0, pendingPaths: [], resyncs: [] });
    expect(before.traffic).toMatchObject([{ name: 'bee' }]);
  }, patience);
  // It would take more than a minute: on any machine the command is faster. Then the link is made fast.
  slow.shape('ant', 'bee', { bytesPerSecond: 500_000 });
  await writeFile(ant.path('large'), randomBytes(40_000_000));
  await vi.waitFor(async () => {
    const { transfers } = transfersSchema.parse(await bee.get('/transfers'));
    expect(transfers).toMatchObject([{ path: 'large', sources: [{ name: 'ant' }], size: 40_000_000 }]);
    expect(transfers[0]?.done).toBeGreaterThan(0);
  }, patience);
  await lockstep(['pause', bee.folder]);
  await vi.waitFor(async () => {
    expect(transfersSchema.parse(await bee.get('/transfers'))).toMatchObject({
      transfers: [],
      pending: 1,
      pendingPaths: [{ path: 'large', reason: 'This member is paused.' }],
      traffic: [],
    });
  }, patience);
  expect(await bee.problems()).toEqual([]);
  slow.shape('ant', 'bee', {});
  await lockstep(['resume', bee.folder]);
  await slow.settled();
});
