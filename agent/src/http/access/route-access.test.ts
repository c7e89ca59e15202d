import type { FastifyInstance } from 'fastify';
import { expect, test, vi } from 'vitest';
import { printedRoutes } from '../../../test/support/printed-routes.ts';
import { ServedCluster } from '../../../test/support/served-cluster.ts';

/** The routes that change nothing, although their method says otherwise. */
const reading = ['POST /api/v1/wait', 'POST /api/v1/ignore-rules/preview'];

/** The routes for everyone who reaches the address. */
const open = ['POST /api/v1/login'];

/** The routes for the socket alone, and those for persons alone. */
const own = [
  ...['leave', 'login-link', 'replay', 'tokens', 'tokens/remove'],
  ...['remote/room', 'remote/room/:room', 'remote/room/:room/published'],
].map((path) => `POST /api/v1/${path}`);
const personal = ['logout', 'sessions/end'].map((path) => `POST /api/v1/${path}`);

/** A server whose requests all come over TCP. */
async function serve(): Promise<{ served: ServedCluster; app: FastifyInstance }> {
  const served = await ServedCluster.open();
  vi.spyOn(served.access, 'isOwnConnection').mockReturnValue(false);
  return { served, app: await served.server() };
}

async function ask(app: FastifyInstance, route: string, token: string) {
  const [method = '', url = ''] = route.split(' ');
  const { statusCode, body } = await app.inject({
    method: method as 'GET',
    url: url.replace('*', 'x').replace(/:\w+/g, '1'),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    // No route takes this: those that may be used refuse it, and change nothing.
    payload: '[]',
  });
  const isError = statusCode >= 400 && body.startsWith('{"error"');
  return { status: statusCode, ...(isError ? (JSON.parse(body).error as { code: string; message: string }) : {}) };
}

test('[AC7] a token for reading is refused by every route that changes something, and by no other', async () => {
  const { served, app } = await serve();
  const { text } = await served.access.tokens.add('reader', true, undefined);
  const routes = printedRoutes(app).map(({ method, url }) => `${method} ${url}`);
  const changing = routes.filter((route) => !/^(GET|HEAD|OPTIONS) /.test(route));
  expect(changing.length).toBeGreaterThan(18);
  expect(changing).toEqual(expect.arrayContaining([...reading, ...open, ...own, ...personal]));
  for (const route of changing) {
    const { code, message } = await ask(app, route, text);
    if (own.includes(route)) expect([route, code]).toEqual([route, 'socket-only']);
    else if (personal.includes(route)) expect([route, code]).toEqual([route, 'person-only']);
    else if (reading.includes(route) || open.includes(route)) expect([route, code]).toEqual([route, 'request-invalid']);
    else {
      expect([route, code]).toEqual([route, 'read-only']);
      expect(message).toContain('reader');
    }
  }
  // Without a link /login refuses everyone.
  for (const route of routes.filter((each) => /^(GET|HEAD) (?!\/login)/.test(each))) {
    const { code, status } = await ask(app, route, text);
    const refused = /tokens$/.test(route) ? 'socket-only' : /sessions$/.test(route) ? 'person-only' : undefined;
    // An answer to HEAD has no body.
    if (refused !== undefined) expect([route, status, code ?? refused]).toEqual([route, 403, refused]);
    else expect([route, [401, 403, 429].includes(status)]).toEqual([route, false]);
  }
});

test('[AC7] a full token may use every route but those for the socket and for persons', async () => {
  const { served, app } = await serve();
  const { text } = await served.access.tokens.add('writer', false, undefined);
  const changing = printedRoutes(app)
    .filter(({ method }) => !/^(GET|HEAD|OPTIONS)$/.test(method))
    .map(({ method, url }) => `${method} ${url}`)
    // They take no body that could be wrong, and would do their work.
    .filter((route) => !/\/(pause|rescan|files\/\*)$/.test(route));
  for (const route of changing) {
    const { status } = await ask(app, route, text);
    const isRefused = own.includes(route) || personal.includes(route);
    expect([route, status === 403]).toEqual([route, isRefused]);
    expect([route, [401, 429].includes(status)]).toEqual([route, false]);
  }
});

test('[AC7] a wrong token is refused everywhere, also with a cookie and where no login is needed', async () => {
  const { served, app } = await serve();
  const wrong = { ...served.cookie, authorization: 'Bearer lockstep_00000000_x' };
  const first = await app.inject({ url: '/metrics', headers: wrong });
  expect([first.statusCode, first.headers['www-authenticate']]).toEqual([401, 'Bearer']);
  const second = await app.inject({ url: '/api/v1/status', headers: wrong });
  expect([second.statusCode, second.headers['retry-after']]).toEqual([429, '1']);
  expect((await app.inject({ url: '/api/v1/status', headers: served.cookie })).statusCode).toBe(200);
  const basic = await app.inject({ url: '/api/v1/status', headers: { authorization: 'Basic eDp5' } });
  expect(basic.statusCode).toBe(401);
});

test('[AC7] a page of another site cannot use a token either', async () => {
  const { served, app } = await serve();
  const { text } = await served.access.tokens.add('script', false, undefined);
  const headers = { authorization: `Bearer ${text}` };
  expect((await app.inject({ url: '/api/v1/status', headers })).statusCode).toBe(200);
  const foreign = { ...headers, origin: 'http://elsewhere.example' };
  expect((await app.inject({ url: '/api/v1/status', headers: foreign })).statusCode).toBe(403);
});
