import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import os, { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import {
  type ApiError,
  eventsPageSchema,
  membersSchema,
  operationsPageSchema,
  pathReportSchema,
  searchResultSchema,
  statusSchema,
  treePageSchema,
  waitResultSchema,
} from '@lockstep/shared/api';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { ServedCluster } from '../../test/support/served-cluster.ts';
import { contentOfText } from '../sim/disk/content.ts';

let served: ServedCluster;
let app: FastifyInstance;

beforeEach(async () => {
  served = await ServedCluster.open();
  app = await served.server();
});

/** See `ServedCluster.openThree`. */
async function openThree(): Promise<void> {
  served = await ServedCluster.openThree();
  app = await served.server();
}

async function ask(method: 'GET' | 'POST' | 'DELETE', url: string, more: InjectOptions = {}) {
  const response = await app.inject({ method, url, ...more });
  return { status: response.statusCode, headers: response.headers, text: response.body };
}

async function get(url: string) {
  const { status, text } = await ask('GET', url);
  expect(status, text).toBe(200);
  return JSON.parse(text);
}

/** As long as a path may be, of the characters that grow most when they are encoded. */
const longPath = `${'🐜'.repeat(63)}/`.repeat(12) + 'x'.repeat(36);

test('[API1] the agent answers to the name that the machine has now', async () => {
  const headers = { host: 'named-later:4800' };
  expect((await ask('GET', '/healthz', { headers })).status).toBe(403);
  const { hostname } = os;
  onTestFinished(() => {
    os.hostname = hostname;
    syncBuiltinESMExports();
  });
  os.hostname = () => 'Named-Later';
  syncBuiltinESMExports();
  expect((await ask('GET', '/healthz', { headers })).status).toBe(200);
});

describe('the state', () => {
  test('status has the fields that scripts rely on', async () => {
    await openThree();
    const status = statusSchema.parse(await get('/api/v1/status'));
    expect(status.member).toMatchObject({ name: 'ant', state: 'active' });
    expect(status).toMatchObject({ synchronised: true, pending: 0, conflicts: 0 });
    expect(status.members.map(({ name, state, rttMs, behind }) => ({ name, state, rttMs, behind }))).toEqual([
      { name: 'ant', state: 'active', rttMs: null, behind: 0 },
      { name: 'bee', state: 'active', rttMs: expect.any(Number), behind: 0 },
      { name: 'cat', state: 'down', rttMs: null, behind: 4 },
    ]);
    const { members } = membersSchema.parse(await get('/api/v1/members'));
    expect(members).toEqual(status.members);
  });

  test.each([
    ['', [5, 4, 3, 2, 1], null],
    ['?limit=2', [5, 4], 4],
    ['?limit=2&before=4', [3, 2], 2],
    ['?after=3', [4, 5], null],
    ['?after=0&limit=2', [1, 2], 2],
    ['?path=notes/1.txt', [3], null],
    ['?path=notes', [5, 4, 3, 2], null],
  ])('operations%s', async (query, rows, next) => {
    for (const file of [1, 2, 3]) await served.write(`notes/${file}.txt`, 'text');
    const page = operationsPageSchema.parse(await get(`/api/v1/ops${query}`));
    expect(page.operations.map(({ row }) => row)).toEqual(rows);
    expect(page.next).toBe(next);
  });

  test.each([
    'a.txt',
    'a/b/c',
    'with space and %25 and ?#&',
    '100%',
    '-rf',
    'new\nline',
    'ünïcödé/🐜',
    'back\\slash',
    '*',
    longPath,
  ])('the path %o', async (path) => {
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    const report = pathReportSchema.parse(await get(`/api/v1/paths/${encoded}`));
    expect(report.path).toBe(path);
  });

  test('a path whose slashes are encoded too', async () => {
    expect((await get(`/api/v1/paths/${encodeURIComponent('a/b')}`)).path).toBe('a/b');
  });

  test('the tree and a search in it', async () => {
    await openThree();
    expect(treePageSchema.parse(await get('/api/v1/tree')).entries.map(({ path }) => path)).toEqual(['a\n%', 'x%']);
    const { entries } = treePageSchema.parse(await get(`/api/v1/tree?path=${encodeURIComponent('a\n%/b')}&limit=1`));
    expect(entries[0]).toMatchObject({ path: 'a\n%/b/1.txt', missing: [served.cluster.machine('cat').id] });
    const found = searchResultSchema.parse(await get('/api/v1/search?name=x%25'));
    expect(found.entries.map(({ path }) => path)).toEqual(['x%']);
  });

  test('events', async () => {
    const page = eventsPageSchema.parse(await get('/api/v1/events?after=1'));
    expect(page.events.map(({ number, kind }) => ({ number, kind }))).toEqual([{ number: 2, kind: 'active' }]);
    expect(page).toMatchObject({ oldest: 1, last: 2 });
  });

  test('healthz distinguishes a healthy agent from one whose folder is gone', async () => {
    expect(await get('/healthz')).toEqual({ ok: true, state: 'active' });
    served.ant.volume.missing = true;
    await served.cluster.until(() => !served.engine.health.folder.ok);
    const { status, text } = await ask('GET', '/healthz');
    expect(status).toBe(503);
    expect(JSON.parse(text)).toMatchObject({ ok: false, detail: expect.stringContaining('is gone') });
  });
});

describe('commands', () => {
  test('wait reports what was missing', async () => {
    await openThree();
    served.cluster.begin();
    const { status, text } = await ask('POST', '/api/v1/wait', { payload: { for: 'all', timeoutMs: 1_000 } });
    expect(status).toBe(200);
    const { blocking, ...result } = waitResultSchema.parse(JSON.parse(text));
    expect(result).toMatchObject({ done: false, holding: 2, wanted: 3, members: 3 });
    expect(blocking.map(({ memberName }) => memberName)).toEqual(['cat']);
  });

  test.each(
    ['verify', 'rescan', 'leave'].flatMap((command) => [
      { command, body: 'without a body', more: {} },
      { command, body: 'with an empty one', more: { payload: {} } },
    ]),
  )('$command takes a request $body', async ({ command, more }) => {
    served.cluster.begin();
    expect((await ask('POST', `/api/v1/${command}`, more)).status).toBe(200);
  });

  test('[CP5] leave is refused while something in the folder is not journaled', async () => {
    await openThree();
    const { disk } = served.ant.volume;
    disk.mkdir('closed');
    disk.write('closed/file', contentOfText('text'));
    disk.chmod('closed', 0o300);
    served.cluster.begin();
    const { status, text } = await ask('POST', '/api/v1/leave');
    expect(status).toBe(409);
    expect(JSON.parse(text)).toMatchObject({
      error: {
        code: 'not-left',
        message: expect.stringMatching(/^Something in the folder is not journaled.*closed cannot be read/),
      },
    });
    expect((await ask('POST', '/api/v1/leave', { payload: { anyway: true } })).status).toBe(200);
  });

  test('replay', async () => {
    await served.write('notes/1.txt', 'what ant wrote');
    const directory = await mkdtemp(join(tmpdir(), 'lockstep-http-'));
    try {
      served.cluster.begin();
      const { status, text } = await ask('POST', '/api/v1/replay', { payload: { into: join(directory, 'there') } });
      expect(status, text).toBe(200);
      expect(JSON.parse(text)).toMatchObject({ files: 1, directories: 1, missing: [] });
      expect(await readFile(join(directory, 'there/notes/1.txt'), 'utf8')).toBe('what ant wrote');
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe('errors are sentences with a code', () => {
  const json = { 'content-type': 'application/json' };
  test.each<[string, 'GET' | 'POST' | 'DELETE', string, InjectOptions, number, string, RegExp]>([
    ['an unknown route', 'GET', '/api/v1/nothing?x=1', {}, 404, 'not-found', /nothing at GET \/api\/v1\/nothing\.$/],
    ['an unknown method', 'DELETE', '/api/v1/status', {}, 404, 'not-found', /DELETE/],
    [
      'a path outside the folder',
      'GET',
      '/api/v1/paths/..%2Fetc',
      {},
      400,
      'request-invalid',
      /contains "\.\." as a name/,
    ],
    ['a path in .lockstep', 'GET', '/api/v1/paths/.lockstep/x', {}, 400, 'request-invalid', /inside \.lockstep/],
    ['no path', 'GET', '/api/v1/paths/', {}, 400, 'request-invalid', /is empty/],
    [
      'a directory outside the folder',
      'GET',
      '/api/v1/tree?path=..',
      {},
      400,
      'request-invalid',
      /contains "\.\." as a name/,
    ],
    ['a search for nothing', 'GET', '/api/v1/search?name=', {}, 400, 'request-invalid', /name/],
    ['a damaged escape', 'GET', '/api/v1/paths/%zz', {}, 400, 'request-invalid', /percent-encoded.*% itself as %25/],
    ['a damaged escape of a file', 'GET', '/api/v1/files/%zz', {}, 400, 'request-invalid', /percent-encoded/],
    ['an escape that is not UTF-8', 'DELETE', '/api/v1/files/%ff', {}, 400, 'request-invalid', /percent-encoded/],
    ['a wrong limit', 'GET', '/api/v1/ops?limit=0', {}, 400, 'request-invalid', /query.*limit/],
    ['both ends', 'GET', '/api/v1/ops?before=3&after=1', {}, 400, 'request-invalid', /before or after/],
    ['a wrong wait', 'POST', '/api/v1/wait', { payload: { for: 'some' } }, 400, 'request-invalid', /body.*for/],
    [
      'a wait for a bad path',
      'POST',
      '/api/v1/wait',
      { payload: { path: '/etc' } },
      400,
      'request-invalid',
      /empty name/,
    ],
    ['a wait without a body', 'POST', '/api/v1/wait', {}, 400, 'request-invalid', /body/],
    ['broken JSON', 'POST', '/api/v1/wait', { payload: '{', headers: json }, 400, 'request-invalid', /JSON/],
    [
      'another type',
      'POST',
      '/api/v1/wait',
      { payload: '{}', headers: { 'content-type': 'text/plain' } },
      415,
      'request-invalid',
      /./,
    ],
    ['a large body', 'POST', '/api/v1/wait', { payload: { path: 'x'.repeat(70_000) } }, 413, 'body-too-large', /./],
    ['a relative replay', 'POST', '/api/v1/replay', { payload: { into: 'there' } }, 400, 'request-invalid', /absolute/],
    ['no WebSocket', 'GET', '/api/v1/events/live', {}, 426, 'request-invalid', /WebSocket/],
    [
      '[API1] a foreign Host',
      'GET',
      '/api/v1/status',
      { headers: { host: 'evil.example' } },
      403,
      'forbidden-host',
      /evil/,
    ],
    [
      '[API1] a foreign Host on a file',
      'GET',
      '/',
      { headers: { host: 'evil.example' } },
      403,
      'forbidden-host',
      /evil/,
    ],
    [
      '[API1] a foreign Origin that only reads',
      'GET',
      '/api/v1/status',
      { headers: { origin: 'http://evil.example' } },
      403,
      'forbidden-origin',
      /evil/,
    ],
    [
      '[API1] a foreign Origin',
      'POST',
      '/api/v1/leave',
      { headers: { origin: 'http://evil.example' } },
      403,
      'forbidden-origin',
      /evil/,
    ],
  ])('%s', async (_name, method, url, more, expected, code, message) => {
    const { status, text } = await ask(method, url, more);
    expect(status, text).toBe(expected);
    const { error }: ApiError = JSON.parse(text);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
  });

  test('[OD23] a change that the journal has no room for is answered as one of a full disk: ENOSPC in a mount', async () => {
    vi.spyOn(served.engine.operationWriter, 'commit').mockImplementation(() => {
      throw new LockstepError('journal-full', 'There is no room for the journal.');
    });
    const { status, text } = await ask('POST', '/api/v1/leave');
    expect(status).toBe(507);
    expect(JSON.parse(text).error.code).toBe('journal-full');
  });

  test('a refusal keeps its code; the details of an internal error stay in the log', async () => {
    const commit = vi.spyOn(served.engine.operationWriter, 'commit');
    const failsWith = (error: Error) =>
      commit.mockImplementation(() => {
        throw error;
      });
    failsWith(new LockstepError('not-a-member', 'This member has left already.'));
    const refused = await ask('POST', '/api/v1/leave');
    expect(refused.status).toBe(409);
    expect(JSON.parse(refused.text).error).toEqual({ code: 'not-a-member', message: 'This member has left already.' });

    failsWith(new Error('password=hunter2'));
    const broken = await ask('POST', '/api/v1/leave');
    expect(broken.status).toBe(500);
    expect(broken.text).not.toContain('hunter2');
    expect(served.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });
});
