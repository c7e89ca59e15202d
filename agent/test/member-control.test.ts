import { readFile, writeFile } from 'node:fs/promises';
import { apiErrorSchema, eventsPageSchema, memberControlSchema, settingsSchema } from '@lockstep/shared/api';
import { expect, test, vi } from 'vitest';
import { lockstep, type Member } from '../../testkit/member.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee', 'cat']);
const patience = { timeout: 20_000, interval: 50 };

/** A request to a member's API, as the page sends it. */
async function request(member: Member, path: string, init: RequestInit = {}) {
  const response = await member.fetch(`api/v1${path}`, init);
  const body: unknown = await response.json();
  const error = response.ok ? undefined : apiErrorSchema.parse(body).error;
  return { status: response.status, etag: response.headers.get('etag'), body, error };
}

/** The condition of `name` as `member` sees it. */
async function conditionOf(member: Member, name: string) {
  return (await member.status()).members.find((each) => each.name === name)?.condition;
}

test('[MB16] a member is controlled by another one only as far as its allow_control says', async () => {
  const [ant, bee, cat] = [cluster().member('ant'), cluster().member('bee'), cluster().member('cat')];
  await bee.restart({ args: ['--allow-control', 'pause'] });
  await cluster().settled();
  expect(await ant.get('/members/bee/control')).toEqual({ allows: 'pause', paused: false });
  expect(await ant.get('/members/cat/control')).toEqual({ allows: 'none', paused: false });

  const refused = await request(ant, '/members/cat/control/pause', { method: 'POST' });
  expect(refused).toMatchObject({ status: 403, error: { code: 'control-refused' } });
  expect(refused.error?.message).toBe(
    'cat does not let other members pause, resume or retry it. A person on that machine allows it with ' +
      'allow_control = "pause" in .lockstep/config.toml, from the next start of its agent on.',
  );
  const settings = await request(ant, '/members/bee/control/settings');
  expect(settings).toMatchObject({ status: 403, error: { code: 'control-refused' } });
  expect(settings.error?.message).toContain('allow_control = "settings"');
  expect((await request(ant, '/members/bee/control/retry', { method: 'POST' })).body).toEqual({ paths: 0 });
  for (const name of ['ant', 'dog']) {
    expect(await request(ant, `/members/${name}/control/pause`, { method: 'POST' })).toMatchObject({ status: 400 });
  }
  expect(await cat.status()).toMatchObject({ paused: false });
});

test('[MB17] a paused member is resumed from another one, also after both were restarted', async () => {
  const [ant, bee, cat] = [cluster().member('ant'), cluster().member('bee'), cluster().member('cat')];
  const args = ['--allow-control', 'pause'];
  await bee.restart({ args });
  await cluster().settled();
  expect(await lockstep(['pause', '--member', 'bee', ant.folder])).toMatchObject({
    code: 0,
    out: 'bee is paused. Changes in its folder are journaled; the others get them after: lockstep resume --member bee\n',
  });
  for (const member of [ant, cat]) {
    await vi.waitFor(async () => expect(await conditionOf(member, 'bee')).toBe('paused'), patience);
  }
  await Promise.all([bee.restart({ args }), ant.restart()]);
  await writeFile(cat.path('of-cat'), 'cat');
  expect(await cat.get('/members/bee/control')).toEqual({ allows: 'pause', paused: true });
  expect(await ant.get('/members/bee/control')).toEqual({ allows: 'pause', paused: true });
  expect(await lockstep(['resume', '--member', 'bee', ant.folder])).toMatchObject({ code: 0 });
  await cluster().settled();
  expect(await readFile(bee.path('of-cat'), 'utf8')).toBe('cat');
  const { events } = eventsPageSchema.parse(await bee.get('/events'));
  const told = events
    .filter(({ kind }) => kind === 'paused' || kind === 'resumed')
    .map(({ kind, data }) => [kind, data.by]);
  expect(told.sort()).toEqual([
    ['paused', 'ant'],
    ['resumed', 'ant'],
  ]);
});

test('[MB18] settings of another member are changed as on its own page, and not those that are changed by hand', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  await bee.restart({ args: ['--allow-control', 'settings'] });
  await cluster().settled();
  const shown = await request(ant, '/members/bee/control/settings');
  const { file, version } = settingsSchema.parse(shown.body);
  expect(file).toBe(bee.state('config.toml'));
  expect(shown.etag).toBe(`"${version}"`);
  const change = (key: string, value: string, ifMatch?: string) =>
    request(ant, '/members/bee/control/settings', {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', ...(ifMatch && { 'if-match': `"${ifMatch}"` }) },
      body: JSON.stringify({ key, value }),
    });
  expect(await change('send_limit', '2 MiB/s', version)).toMatchObject({ status: 200 });
  expect(await readFile(bee.state('config.toml'), 'utf8')).toMatch(/^send_limit = "2 MiB\/s"$/m);
  expect(await readFile(ant.state('config.toml'), 'utf8')).not.toMatch(/^send_limit/m);
  const outdated = await change('send_limit', '3 MiB/s', version);
  expect(outdated).toMatchObject({ status: 412, error: { code: 'version-mismatch' } });
  const now = outdated.error?.version;
  expect(await change('allow_control', 'none', now)).toMatchObject({ status: 400, error: { code: 'request-invalid' } });
  expect(await change('send_limit', 'much', now)).toMatchObject({ status: 409, error: { code: 'config-invalid' } });
  expect(await change('send_limit', '3 MiB/s')).toMatchObject({ status: 428 });
});

test('[MB19] a member that is down or was removed is not controlled, and controls none', async () => {
  const [ant, bee, cat] = [cluster().member('ant'), cluster().member('bee'), cluster().member('cat')];
  await bee.restart({ args: ['--allow-control', 'pause'] });
  await cluster().settled();
  await cat.kill();
  const sentence = /^cat could not be asked from ant\. .*Use the page or the commands of cat itself\.$/;
  expect(await ant.get('/members/cat/control')).toEqual({ reason: expect.stringMatching(sentence) });
  const down = await request(ant, '/members/cat/control/retry', { method: 'POST' });
  expect(down).toMatchObject({ status: 409, error: { code: 'unreachable', message: expect.stringMatching(sentence) } });
  await vi.waitFor(async () => expect(await conditionOf(ant, 'cat')).toBe('down'), patience);
  expect(await lockstep(['remove', 'cat', ant.folder])).toMatchObject({ code: 0 });
  await vi.waitFor(async () => expect(await conditionOf(bee, 'cat')).toBe('left'), patience);
  await cat.start({ ready: false });
  await vi.waitFor(async () => {
    const refusal = expect.stringContaining(
      'bee does nothing for a member that left the cluster or was removed from it.',
    );
    expect(await cat.get('/members/bee/control')).toEqual({ reason: refusal });
  }, patience);
  expect(memberControlSchema.parse(await ant.get('/members/bee/control'))).toMatchObject({ paused: false });
});
