import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import type { SessionList } from '@lockstep/shared/api';
import { expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { lockstep, type Member } from '../../testkit/member.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee']);

/** Runs a command and returns what it printed. */
async function run(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await lockstep(args);
  expect(code, err).toBe(0);
  return out.trim();
}

/** The answer to a script that has only the address and a token, as curl would. */
async function asScript(member: Member, token: string, path: string, init: RequestInit = {}) {
  const headers = { authorization: `Bearer ${token}`, ...init.headers };
  const response = await fetch(new URL(path, member.url), { ...init, headers });
  const text = await response.text();
  const error = response.ok ? undefined : (JSON.parse(text).error as { code: string; message: string });
  return { status: response.status, text, code: error?.code, message: error?.message };
}

/** Opens a live stream; `closed` resolves when the agent has ended it. */
async function openStream(member: Member, headers: Record<string, string>): Promise<{ closed: Promise<unknown> }> {
  const socket = new WebSocket(`${member.url.replace('http', 'ws')}api/v1/events/live`, { headers });
  const closed = once(socket, 'close');
  await once(socket, 'open');
  return { closed };
}

test('[AC7] a script reads and writes with a token on TCP; one for reading changes nothing', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  const full = await run('token', 'add', 'writer', ant.folder);
  const reader = JSON.parse(await run('token', 'add', 'reader', '--read-only', '--days', '1', '--json', ant.folder));
  expect(reader).toMatchObject({ name: 'reader', readOnly: true, lastUsedAt: null });

  const put = (token: string, name: string) =>
    asScript(ant, token, `api/v1/files/${name}`, { method: 'PUT', body: 'of a script' });
  expect(await put(reader.token, 'no.txt')).toMatchObject({
    status: 403,
    code: 'read-only',
    message: expect.stringContaining('The token reader is for reading only'),
  });
  expect(await put(full, 'yes.txt')).toMatchObject({ status: 201 });
  const headers = { 'if-match': '*', 'content-range': 'bytes 0-1/*' };
  const patch = { method: 'PATCH', body: 'no', headers };
  expect(await asScript(ant, reader.token, 'api/v1/files/yes.txt', patch)).toMatchObject({ code: 'read-only' });
  await cluster().settled();
  expect(await readFile(bee.path('yes.txt'), 'utf8')).toBe('of a script');
  await expect(stat(bee.path('no.txt'))).rejects.toMatchObject({ code: 'ENOENT' });

  for (const token of [full, reader.token]) {
    expect(await asScript(ant, token, 'api/v1/status')).toMatchObject({ status: 200 });
    const wait = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
    expect(JSON.parse((await asScript(ant, token, 'api/v1/wait', wait)).text)).toMatchObject({ done: true });
    expect(await asScript(ant, token, 'api/v1/leave', { method: 'POST' })).toMatchObject({ code: 'socket-only' });
    expect(await asScript(ant, token, 'api/v1/tokens')).toMatchObject({ code: 'socket-only' });
    expect(await asScript(ant, token, 'api/v1/sessions')).toMatchObject({ code: 'person-only' });
    // It is of one member.
    expect((await asScript(bee, token, 'api/v1/status')).status).not.toBe(200);
  }

  const list = await run('token', 'list', ant.folder);
  const moment = String.raw`(just now|\d+ (s|min) ago)`;
  expect(list).toMatch(
    new RegExp(String.raw`^reader +read-only +lockstep_\w{8}_… +${moment} +${moment} +in (1 day|23 h)$`, 'm'),
  );
  expect(list).toMatch(/^writer +full .* never$/m);
  expect(await lockstep(['token', 'add', 'writer', ant.folder])).toMatchObject({
    code: 2,
    err: expect.stringContaining('There is a token writer already'),
  });
  for (const args of [['x', '--days', '0'], ['x', '--days', 'ten'], ['-x y'], ['x'.repeat(65)]]) {
    expect((await lockstep(['token', 'add', ...args, ant.folder])).code).toBe(2);
  }
});

test('[AC7] a token is a hash in a file of its owner, outlives a crash, and is in no log; its removal cuts off at once', async () => {
  const ant = cluster().member('ant');
  const token = await run('token', 'add', 'watcher', '--read-only', ant.folder);
  const secret = token.slice(-43);
  await ant.kill();
  await ant.start();
  expect(await asScript(ant, token, 'api/v1/status')).toMatchObject({ status: 200 });
  const file = ant.state('tokens.json');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, 'utf8')).not.toContain(secret);

  const stream = await openStream(ant, { authorization: `Bearer ${token}` });
  expect(await run('token', 'remove', 'watcher', ant.folder)).toContain('is removed');
  await stream.closed;
  // Two at once: after the first one there is a pause of a second, which a busy machine may take for the second one.
  const seen: string[] = [];
  await vi.waitFor(async () => {
    const tries = await Promise.all([1, 2].map(() => asScript(ant, token, 'api/v1/status')));
    const said = tries.map(({ status, code }) => `${status} ${code}`).sort();
    seen.push(...said);
    expect(said).toEqual(['401 login-required', '429 too-many']);
  }, 20_000);
  expect(new Set(seen)).toEqual(new Set(['401 login-required', '429 too-many']));
  expect(await lockstep(['token', 'remove', 'watcher', ant.folder])).toMatchObject({ code: 1 });
  await ant.restart();
  expect(await asScript(ant, token, 'api/v1/status')).toMatchObject({ status: 401 });
  expect(ant.log.join('\n')).not.toContain(secret);

  await ant.stop();
  await writeFile(file, '[{"id":');
  await ant.start();
  expect(await run('token', 'list', ant.folder)).toContain('There are no tokens');
  await cluster().connected();
});

test('[AC8] the logins of browsers are listed, and one that is ended is cut off at once', async () => {
  const bee = cluster().member('bee');
  const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';
  const open = async () => {
    const link = await run('dashboard', '--no-open', bee.folder);
    const response = await fetch(link, { redirect: 'manual', headers: { 'user-agent': agent } });
    return response.headers.get('set-cookie')?.split(';')[0] ?? '';
  };
  const [first, second, third] = [await open(), await open(), await open()];
  const of = async (cookie: string) => {
    const response = await fetch(new URL('api/v1/sessions', bee.url), { headers: { cookie } });
    const { sessions = [] } = (await response.json()) as { sessions?: SessionList['sessions'] };
    return { status: response.status, sessions };
  };
  const { sessions } = await of(first);
  const firefox = sessions.filter(({ browser }) => browser === 'Firefox on Linux');
  expect(firefox).toHaveLength(3);
  const secondId = firefox[1]?.id ?? '';
  expect(firefox[0]).toMatchObject({ isThis: true, address: '127.0.0.1', id: expect.stringMatching(/^[0-9a-f]{8}$/) });
  expect(firefox[1]).toMatchObject({ isThis: false });
  const printed = await run('dashboard', 'sessions', bee.folder);
  expect(printed).toMatch(new RegExp(`^${secondId} +Firefox on Linux +127\\.0\\.0\\.1 `, 'm'));
  expect(JSON.parse(await run('dashboard', 'sessions', '--json', bee.folder)).sessions).toHaveLength(sessions.length);

  const stream = await openStream(bee, { cookie: second });
  expect(await run('dashboard', 'end', secondId, bee.folder)).toBe('One browser is logged out.');
  await stream.closed;
  expect([(await of(second)).status, (await of(first)).status]).toEqual([401, 200]);
  expect(await lockstep(['dashboard', 'end', secondId, bee.folder])).toMatchObject({ code: 1 });
  expect(await lockstep(['dashboard', 'end'])).toMatchObject({ code: 2 });

  // A browser logs itself out, and gets the answer although its login ends.
  const logout = await fetch(new URL('api/v1/logout', bee.url), { method: 'POST', headers: { cookie: first } });
  expect([logout.status, logout.headers.get('set-cookie')]).toEqual([200, expect.stringContaining('Max-Age=0')]);
  expect((await of(first)).status).toBe(401);
  const foreign = { cookie: third, 'sec-fetch-site': 'cross-site' };
  const crossSite = await fetch(new URL('api/v1/logout', bee.url), { method: 'POST', headers: foreign });
  expect(crossSite.status).toBe(403);

  const last = await openStream(bee, { cookie: third });
  expect(await run('dashboard', 'end', '--all', bee.folder)).toMatch(/logged out/);
  await last.closed;
  await bee.restart();
  expect((await of(third)).status).toBe(401);
  await vi.waitFor(async () => {
    expect(await run('dashboard', 'sessions', bee.folder)).toContain('No browser is logged in');
  }, 20_000);
});
