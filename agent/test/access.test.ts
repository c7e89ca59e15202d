import { chmod, lstat, mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { Cluster } from '../../testkit/cluster.ts';
import { ask } from '../../testkit/http.ts';
import { shellAs } from '../../testkit/machine/person.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee']);

const codeOf = (text: string): unknown => JSON.parse(text).error?.code;

/** The answer to another user of the machine, who reaches the port and nothing else. */
async function asStranger(member: Member, method: 'GET' | 'POST', path: string, cookie = ''): Promise<string> {
  const body = method === 'POST' ? { body: {} } : {};
  const { status, text } = await ask({ to: member, method, path, ...body, ...(cookie && { headers: { cookie } }) });
  return status === 200 ? 'answered' : `${status} ${codeOf(text)}`;
}

async function linkOf(member: Member): Promise<string> {
  const { code, out, err } = await lockstep(['dashboard', member.folder]);
  expect(code, err).toBe(0);
  return out.trim();
}

/** Opens a link as a browser does, and returns what it got. */
async function openLink(link: string): Promise<{ status: number; cookie: string; location: string | null }> {
  const response = await fetch(link, { redirect: 'manual', headers: { accept: 'text/html' } });
  return {
    status: response.status,
    cookie: response.headers.get('set-cookie') ?? '',
    location: response.headers.get('location'),
  };
}

const isRefused = (member: Member, path: string, cookie: string): Promise<number> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`${member.url.replace('http', 'ws')}${path}`, { headers: { cookie } });
    socket.once('open', () => {
      resolve(101);
      socket.terminate();
    });
    socket.once('unexpected-response', (request, response) => {
      resolve(response.statusCode ?? 0);
      request.destroy();
    });
    socket.on('error', () => undefined);
  });

test('[AC2] without a login other users get the page and numbers, but no path and no content', async () => {
  const ant = cluster().member('ant');
  await writeFile(ant.path('secret-name'), 'secret text', { mode: 0o600 });
  await cluster().settled();
  for (const path of ['/', '/index.html', '/files/secret-name', '/healthz', '/metrics', '/api/v1/summary']) {
    const { status, text } = await ask({ to: ant, path, headers: { accept: 'text/html' } });
    expect([path, status]).toEqual([path, 200]);
    for (const secret of ['secret-name', 'secret text', ant.folder]) expect(text).not.toContain(secret);
  }
  const closed = ['status', 'members', 'content/secret-name', 'paths/secret-name', 'tree', 'search?name=e', 'ops'];
  for (const path of [...closed, 'events', 'conflicts', 'transfers', 'openapi.json'])
    expect([path, await asStranger(ant, 'GET', `/api/v1/${path}`)]).toEqual([path, '401 login-required']);
  for (const path of ['pause', 'resume', 'retry', 'rescan', 'verify', 'wait', 'conflicts/resolve', 'mounts/accept'])
    expect([path, await asStranger(ant, 'POST', `/api/v1/${path}`)]).toEqual([path, '401 login-required']);
  for (const path of ['api/v1/events/live', 'api/v1/ops/live']) {
    expect(await isRefused(ant, path, '')).toBe(401);
    expect(await isRefused(ant, path, await ant.logIn())).toBe(101);
  }
});

test('[AC3] replay, leave and links are for the socket alone, also with a login, and the refusal names the command', async () => {
  const ant = cluster().member('ant');
  const cookie = await ant.logIn();
  for (const [path, command] of [
    ['replay', 'lockstep replay --into'],
    ['leave', 'lockstep leave'],
    ['login-link', 'lockstep dashboard'],
  ]) {
    for (const given of ['', cookie]) {
      const to = { to: ant, method: 'POST', path: `/api/v1/${path}`, body: { into: '/tmp/x' } } as const;
      const { status, text } = await ask({ ...to, headers: { cookie: given } });
      expect([status, codeOf(text)]).toEqual([403, 'socket-only']);
      expect(text).toContain(command);
    }
  }
  expect((await ant.status()).member.state).toBe('active');
});

test('[AC4] a link logs one browser in, once, and the token leaves the address bar', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  const link = await linkOf(ant);
  expect(link.startsWith(`${ant.url}login?token=`)).toBe(true);
  const first = await openLink(link);
  expect(first).toMatchObject({ status: 303, location: '/' });
  const { id } = (await ant.status()).member;
  expect(first.cookie).toMatch(
    new RegExp(`^lockstep-${id}=[\\w-]{43}; Path=/; Max-Age=7776000; HttpOnly; SameSite=Strict$`),
  );
  const [cookie = ''] = first.cookie.split(';');
  expect(await asStranger(ant, 'GET', '/api/v1/status', cookie)).toBe('answered');
  expect(await openLink(link)).toMatchObject({ status: 303, cookie: '' });
  expect(await asStranger(ant, 'GET', new URL(link).pathname + new URL(link).search)).toBe('401 login-required');

  const [name = '', value = ''] = cookie.split('=');
  const wrong = [
    `${name}=`,
    `${name}=${'A'.repeat(43)}`,
    `${name}=${value.slice(0, -1)}`,
    `${name}=${value}x`,
    `other=${value}`,
    `${name}=${link.split('=')[1]}`,
  ];
  for (const each of wrong) expect(await asStranger(ant, 'GET', '/api/v1/status', each)).toBe('401 login-required');
  // The cookies of all members of this host come with each request.
  const both = `${await bee.logIn()}; ${cookie}`;
  expect(await asStranger(ant, 'GET', '/api/v1/status', both)).toBe('answered');
  expect(await asStranger(bee, 'GET', '/api/v1/status', both)).toBe('answered');
  expect(await asStranger(bee, 'GET', '/api/v1/status', cookie)).toBe('401 login-required');
});

test('[AC4] a login outlives a restart and a crash of the agent, and its file gives no one access', async () => {
  const bee = cluster().member('bee');
  const cookie = await bee.logIn();
  await bee.restart();
  expect(await asStranger(bee, 'GET', '/api/v1/status', cookie)).toBe('answered');
  await bee.kill();
  await bee.start();
  expect(await asStranger(bee, 'GET', '/api/v1/status', cookie)).toBe('answered');
  const file = bee.state('sessions.json');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, 'utf8')).not.toContain(cookie.split('=')[1]);

  await bee.stop();
  await writeFile(file, '[{"hash":');
  await bee.start();
  expect(await asStranger(bee, 'GET', '/api/v1/status', cookie)).toBe('401 login-required');
  await cluster().connected();
});

test('[AC1] the socket is of its user alone; one that a killed agent left is replaced, and the end removes it', async () => {
  const bee = cluster().member('bee');
  const socket = bee.state('api.sock');
  const look = async () => {
    const stats = await lstat(socket);
    expect([stats.isSocket(), stats.mode & 0o777]).toEqual([true, 0o600]);
    return stats.ino;
  };
  expect((await stat(bee.state())).mode & 0o777).toBe(0o700);
  const first = await look();
  await bee.kill();
  expect(await look()).toBe(first);
  expect(await lockstep(['status', bee.folder])).toMatchObject({ code: 1, err: expect.stringContaining('No agent') });
  await bee.start();
  expect(await look()).not.toBe(first);
  expect((await lockstep(['status', bee.folder])).code).toBe(0);
  await bee.stop();
  await expect(lstat(socket)).rejects.toMatchObject({ code: 'ENOENT' });
  await bee.start();
  await cluster().connected();
});

test.runIf(process.getuid?.() === 0)(
  '[AC1] another user cannot connect to the socket, even where every directory is open to all',
  async () => {
    const ant = cluster().member('ant');
    const open = [cluster().root, ant.folder, ant.state()];
    for (const directory of open) await chmod(directory, 0o755);
    const script =
      `require("node:net").connect(${JSON.stringify(ant.state('api.sock'))})` +
      '.on("connect", () => process.exit(1)).on("error", ({ code }) => console.log(code))';
    const attempt = (uid: number) => shellAs({ uid, gid: uid }, '/', `'${process.execPath}' -e '${script}'`);
    expect((await attempt(4_321)).trim()).toBe('EACCES');
    for (const directory of open) await chmod(directory, 0o700);
  },
);

test('[AC1] the commands work in a folder whose path is too long for a socket', async () => {
  const deep = join(await realpath(tmpdir()), `lockstep-${process.pid}`, 'a'.repeat(80), 'b'.repeat(80));
  await mkdir(deep, { recursive: true });
  const far = await Cluster.start(['ant'], { directory: deep });
  try {
    const ant = far.member('ant');
    expect(ant.state('api.sock').length).toBeGreaterThan(200);
    await ant.put('note', 'text');
    await vi.waitFor(async () => {
      const { code, out } = await lockstep(['status', '--json', ant.folder]);
      expect(code).toBe(0);
      expect(JSON.parse(out).files).toBe(1);
    }, 20_000);
    const link = (await lockstep(['dashboard', ant.folder])).out.trim();
    expect((await openLink(link)).cookie).not.toBe('');
    const into = join(far.root, 'then');
    expect(await lockstep(['replay', '--into', into, ant.folder])).toMatchObject({ code: 0 });
    expect(await readFile(join(into, 'note'), 'utf8')).toBe('text');
    await ant.stop();
    await expect(lstat(ant.state('api.sock'))).rejects.toMatchObject({ code: 'ENOENT' });
  } finally {
    await far.close();
  }
});
