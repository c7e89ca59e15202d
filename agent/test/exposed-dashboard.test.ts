import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { ask } from '../../testkit/http.ts';
import { lockstep, type Member, setPassword } from '../../testkit/member.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';
import { createIdentity } from '../src/net/keys/identity.ts';

const cluster = useCluster(['ant']);
const ant = (): Member => cluster().member('ant');

const password = 'correct horse battery';

/** The options of an address that other machines reach, at ant's port. */
const exposed = () => ['--dashboard', `0.0.0.0:${new URL(ant().url).port}`];
const certified = () => ['--dashboard-certificate', 'tls.crt', '--dashboard-key', 'tls.key'];

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A request over TLS, whose certificate is of the test's own. */
function askOverTls(path: string, headers: Record<string, string> = {}, body?: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const url = new URL(path, ant().url.replace('http:', 'https:'));
    const sent = body === undefined ? headers : { ...headers, 'content-type': 'application/json' };
    const method = body === undefined ? 'GET' : 'POST';
    const outgoing = request(url, { method, headers: sent, rejectUnauthorized: false, agent: false }, (incoming) => {
      text(incoming).then(
        (said) => resolve({ status: incoming.statusCode, headers: incoming.headers, body: said }),
        reject,
      );
    });
    outgoing.once('error', reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const logIn = (given: string) => askOverTls('/api/v1/login', {}, { password: given });

/** Logs in as soon as an attempt may be made, which has this status. */
const answeredWith = (status: number, given: string) =>
  vi.waitFor(
    async () => {
      const answer = await logIn(given);
      expect(answer.status).toBe(status);
      return answer;
    },
    { timeout: 20_000, interval: 300 },
  );

const cookieOf = ({ headers }: Answer): string => headers['set-cookie']?.[0]?.split(';')[0] ?? '';

beforeAll(async () => {
  const { key, certificate } = await createIdentity();
  await writeFile(ant().state('tls.crt'), certificate);
  await writeFile(ant().state('tls.key'), key);
  await ant().stop();
});

test('[AC5] on another address than loopback the start is refused until there are TLS and a password', async () => {
  const refused = async (args: readonly string[]): Promise<string> => {
    const { code, err } = await lockstep(['up', ant().folder, ...exposed(), ...args]);
    expect(code).toBe(1);
    return err;
  };
  const neither = await refused([]);
  expect(neither).toMatch(/Other machines can reach the dashboard at 0\.0\.0\.0[\s\S]*certificate[\s\S]*password/);
  expect(neither).toContain(`lockstep dashboard password ${ant().folder}`);
  const certificateOnly = await refused(certified());
  expect(certificateOnly).toContain('- a password');
  expect(certificateOnly).not.toContain('- a certificate');
  expect(await refused(['--dashboard-key', 'tls.key'])).toContain('set dashboard_certificate');
  expect(await refused(['--dashboard-certificate', 'none.crt', '--dashboard-key', 'tls.key'])).toContain('none.crt');
  const swapped = ['--dashboard-certificate', 'tls.key', '--dashboard-key', 'tls.crt'];
  expect(await refused(swapped)).toContain('must be PEM, and belong together');

  expect(await setPassword(ant(), 'too short')).toMatchObject({
    code: 2,
    err: expect.stringContaining('12 characters'),
  });
  expect(await setPassword(ant(), password)).toMatchObject({ code: 0 });
  const file = ant().state('dashboard-password.json');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, 'utf8')).not.toContain('horse');
  const passwordOnly = await refused([]);
  expect(passwordOnly).toContain('- a certificate');
  expect(passwordOnly).not.toContain('- a password');
});

test('[AC5] [AC7] with both, browsers log in by the password over TLS, scripts by tokens; wrong ones are slowed down, and links work', async () => {
  await ant().start({ args: [...exposed(), ...certified()] });
  expect((await askOverTls('/healthz')).status).toBe(200);
  await expect(ask({ to: ant(), path: '/healthz' })).rejects.toThrow();
  expect((await askOverTls('/api/v1/status')).status).toBe(401);
  expect(JSON.parse((await askOverTls('/api/v1/login')).body)).toEqual({ password: true });

  // After three, the next one must wait for 4 s. A busy machine may take as long to ask again: then the count begins once more.
  const soon = await vi.waitFor(async () => {
    for (let wrong = 0; wrong < 3; wrong++) {
      const refused = await answeredWith(401, 'wrong password');
      expect(refused.headers['set-cookie']).toBeUndefined();
    }
    const answer = await logIn(password);
    expect(answer.status).toBe(429);
    return answer;
  }, 120_000);
  expect(soon.headers['set-cookie']).toBeUndefined();
  expect(soon.headers['retry-after']).toMatch(/^[1-4]$/);
  const { out } = await lockstep(['dashboard', '--no-open', ant().folder]);
  expect(out).toMatch(/^https:/);
  const linked = await askOverTls(`/login${new URL(out).search}`);
  expect(linked.headers['set-cookie']?.[0]).toMatch(/; HttpOnly; SameSite=Strict; Secure$/);
  expect((await askOverTls('/api/v1/status', { cookie: cookieOf(linked) })).status).toBe(200);

  const cookie = cookieOf(await answeredWith(200, password));
  expect((await askOverTls('/api/v1/status', { cookie })).status).toBe(200);
  const refused = await askOverTls('/api/v1/leave', { cookie }, {});
  expect([refused.status, JSON.parse(refused.body).error.code]).toEqual([403, 'socket-only']);
  const made = await lockstep(['token', 'add', 'monitor', '--read-only', ant().folder]);
  const authorization = `Bearer ${made.out.trim()}`;
  expect((await askOverTls('/api/v1/status', { authorization })).status).toBe(200);
  const change = await askOverTls('/api/v1/pause', { authorization }, {});
  expect([change.status, JSON.parse(change.body).error.code]).toEqual([403, 'read-only']);
  const address = `${ant().url.replace('http', 'ws')}api/v1/events/live`.replace('ws:', 'wss:');
  const socket = new WebSocket(address, { headers: { cookie }, rejectUnauthorized: false });
  await once(socket, 'open');
  socket.terminate();
  expect((await lockstep(['status', ant().folder])).code).toBe(0);
  await ant().stop();
});

test('[AC5] something outside may guard the address; a login is needed all the same', async () => {
  await ant().start({ args: [...exposed(), '--dashboard-guard', 'outside'] });
  expect((await ask({ to: ant(), path: '/api/v1/status' })).status).toBe(401);
  expect((await ask({ to: ant(), path: '/metrics' })).status).toBe(200);
  expect((await ant().status()).member.name).toBe('ant');
  // The password works here too.
  const given = { to: ant(), method: 'POST', path: '/api/v1/login', body: { password } } as const;
  expect((await ask(given)).status).toBe(200);
});
