import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { PROTOCOL_VERSION } from '@lockstep/shared';
import { expect, test, vi } from 'vitest';
import { lockstep } from '../../testkit/member.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';
import { buildVersion } from './support/other-version.ts';

test('[UP1] members of two versions with a common protocol replicate, and doctor names the older one', async () => {
  const program = await buildVersion({ SOFTWARE_VERSION: '0.2.0', PROTOCOL_VERSION: PROTOCOL_VERSION + 1 });
  const cluster = await startCluster(['ant', 'bee']);
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await writeFile(ant.path('before'), 'of this version');
  await cluster.settled();

  await bee.restart({ program });
  await cluster.connected();
  expect((await bee.status()).member.software).toBe('0.2.0');
  await writeFile(bee.path('newer'), 'of the next version');
  await appendFile(ant.path('before'), ', changed');
  await cluster.settled();
  expect(await readFile(ant.path('newer'), 'utf8')).toBe('of the next version');
  const seen = (await ant.status()).members.find(({ name }) => name === 'bee');
  expect(seen?.software).toBe('0.2.0');
  const { out } = await lockstep(['doctor', ant.folder]);
  expect(out).toMatch(/warn {2}versions +bee runs Lockstep 0\.2\.0, and this one is 0\.1\.0/);

  // And back, if that version still speaks the protocol.
  await bee.restart();
  await cluster.connected();
  await writeFile(bee.path('back'), 'again of this version');
  await cluster.settled();
});

test('[UP2] a version that does not speak this protocol any more is refused, and both sides say which machine to upgrade', async () => {
  const later = PROTOCOL_VERSION + 1;
  const program = await buildVersion({
    SOFTWARE_VERSION: '2.0.0',
    PROTOCOL_VERSION: later,
    PROTOCOL_VERSION_MIN: later,
  });
  const cluster = await startCluster(['ant', 'bee']);
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await writeFile(ant.path('before'), 'all have it');
  await cluster.settled();
  await bee.stop();
  await bee.start({ program, ready: false });
  const sentence = /speaks protocol .*: upgrade Lockstep on the (dialler|listener)/;
  for (const member of [ant, bee]) {
    await vi.waitFor(
      async () => {
        const details = (await member.status()).problems.map(({ detail }) => detail);
        expect(details.join('\n')).toMatch(sentence);
      },
      { timeout: 60_000, interval: 100 },
    );
  }
  const { code, out } = await lockstep(['doctor', ant.folder]);
  expect(code).toBe(1);
  expect(out).toMatch(sentence);
  // That one has not heard of ant since its start.
  const { out: ofLater } = await lockstep(['doctor', bee.folder], { program });
  expect(ofLater).toMatch(sentence);
  expect(ofLater).not.toContain('Make sure that ant is up');
  expect(await readFile(bee.path('before'), 'utf8')).toBe('all have it');

  await writeFile(ant.path('meanwhile'), 'while they did not talk');
  await bee.restart();
  await cluster.connected();
  await cluster.settled();
});
