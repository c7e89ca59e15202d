import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { dotKey } from '@lockstep/shared';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { beforeEach, describe, expect, test } from 'vitest';
import { ServedCluster } from '../../../test/support/served-cluster.ts';
import { contentOfText } from '../../sim/disk/content.ts';

let app: FastifyInstance;
let served: ServedCluster;

beforeEach(async () => {
  served = await ServedCluster.open();
  app = await served.server();
  served.cluster.begin();
});

type Method = 'GET' | 'HEAD' | 'PUT' | 'DELETE' | 'MOVE' | 'MKCOL';

async function ask(method: Method, path: string, more: Omit<InjectOptions, 'method'> = {}) {
  const options = { method, url: `/api/v1/files/${path}`, ...more } as InjectOptions;
  const { statusCode: status, headers, body, rawPayload } = await app.inject(options);
  return { status, headers, body, bytes: rawPayload, said: body.startsWith('{') ? JSON.parse(body) : undefined };
}

const put = (path: string, payload: string, headers: Record<string, string> = {}) =>
  ask('PUT', path, { payload, headers: { 'content-type': 'text/plain', ...headers } });

describe('[FA1] a file', () => {
  test('is put, read, replaced and deleted, each time in the version that was named', async () => {
    const made = await put('letters/to%20bee.txt', 'one');
    expect(made).toMatchObject({ status: 201, said: { path: 'letters/to bee.txt', isNew: true } });
    const etag = String(made.headers.etag);
    expect(etag).toBe(JSON.stringify(made.said.version));
    const read = await ask('GET', 'letters/to%20bee.txt');
    expect(read).toMatchObject({ status: 200, body: 'one', headers: { etag, 'content-length': '3' } });
    expect(await ask('HEAD', 'letters/to%20bee.txt')).toMatchObject({
      status: 200,
      body: '',
      headers: { etag, 'content-length': '3' },
    });
    expect(await ask('GET', 'letters/to%20bee.txt', { headers: { 'if-none-match': etag } })).toMatchObject({
      status: 304,
      body: '',
    });

    expect(await put('letters/to%20bee.txt', 'two')).toMatchObject({
      status: 428,
      said: { error: { code: 'version-required', version: made.said.version } },
    });
    expect(await put('letters/to%20bee.txt', 'two', { 'if-none-match': '*' })).toMatchObject({
      status: 412,
      headers: { etag },
    });
    const replaced = await put('letters/to%20bee.txt', 'two', { 'if-match': etag });
    expect(replaced).toMatchObject({ status: 200, said: { isNew: false } });
    expect(await put('letters/to%20bee.txt', 'three', { 'if-match': etag })).toMatchObject({
      status: 412,
      said: { error: { code: 'version-mismatch', version: replaced.said.version } },
    });
    expect((await ask('GET', 'letters/to%20bee.txt')).body).toBe('two');

    expect(await ask('DELETE', 'letters/to%20bee.txt', { headers: { 'if-match': etag } })).toMatchObject({
      status: 412,
    });
    expect(await ask('DELETE', 'letters/to%20bee.txt')).toMatchObject({ status: 428 });
    const now = { 'if-match': String(replaced.headers.etag) };
    expect(await ask('DELETE', 'letters/to%20bee.txt', { headers: now })).toMatchObject({
      status: 200,
      said: { entries: 1, left: [] },
    });
    expect(await ask('GET', 'letters/to%20bee.txt')).toMatchObject({
      status: 404,
      said: { error: { code: 'no-entry' } },
    });
    expect(await ask('DELETE', 'letters/to%20bee.txt', { headers: now })).toMatchObject({ status: 404 });
    expect(await put('letters/to%20bee.txt', 'four', now)).toMatchObject({ status: 412 });
  });

  test('is answered with the version of its own bytes, also if others are put at once', async () => {
    const bodies = Array.from({ length: 12 }, (_, index) => `${index}`);
    await put('shared', 'first');
    const answers = await Promise.all(bodies.map((body) => put('shared', body, { 'if-match': '*' })));
    const contentOf = new Map(
      served.engine.context.journal.log
        .rows({ limit: 100 })
        .map(({ operation }) => [dotKey(operation), operation.content]),
    );
    expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 200));
    expect(answers.map(({ said }) => contentOf.get(said.version))).toEqual(
      bodies.map((body) => contentOfText(body).id),
    );
  });
});

describe('[FA2] a part of a file', () => {
  const bytes = Buffer.alloc(2_500, 'lockstep ');

  test.each([
    ['bytes=0-8', 0, 9],
    ['bytes=1000-1015', 1_000, 1_016],
    ['bytes=2400-', 2_400, 2_500],
    ['bytes=-5', 2_495, 2_500],
    ['bytes=2499-9999', 2_499, 2_500],
  ])('%s', async (range, start, end) => {
    await ask('PUT', 'film', { payload: bytes });
    const { status, headers, bytes: part } = await ask('GET', 'film', { headers: { range } });
    expect([status, headers['content-range'], headers['content-length']]).toEqual([
      206,
      `bytes ${start}-${end - 1}/2500`,
      String(end - start),
    ]);
    expect(part.equals(bytes.subarray(start, end))).toBe(true);
  });

  test('after its end is refused, and what is no range, or of another version, gives the whole', async () => {
    const { headers } = await ask('PUT', 'film', { payload: bytes });
    const beyond = await ask('GET', 'film', { headers: { range: 'bytes=2500-' } });
    expect(beyond).toMatchObject({ status: 416, headers: { 'content-range': 'bytes */2500' } });
    for (const range of ['bytes=5-2', 'bytes=0-1,4-5', 'lines=1-2', 'bytes=-']) {
      expect((await ask('GET', 'film', { headers: { range } })).status).toBe(200);
    }
    const part = { range: 'bytes=0-3' };
    const etag = String(headers.etag);
    expect((await ask('GET', 'film', { headers: { ...part, 'if-range': etag } })).status).toBe(206);
    expect((await ask('GET', 'film', { headers: { ...part, 'if-range': '"other:1"' } })).status).toBe(200);
  });

  test('of an empty file there is none', async () => {
    expect((await ask('PUT', 'empty')).status).toBe(201);
    expect(await ask('GET', 'empty')).toMatchObject({ status: 200, body: '', headers: { 'content-length': '0' } });
    expect((await ask('GET', 'empty', { headers: { range: 'bytes=0-0' } })).status).toBe(416);
  });
});

describe('[FA3] a directory', () => {
  test('is made, listed, renamed whole, and deleted only with the number of entries that are in it', async () => {
    expect(await ask('MKCOL', 'a/b')).toMatchObject({ status: 201, said: { path: 'a/b' } });
    expect((await ask('MKCOL', 'a/b')).status).toBe(412);
    await put('a/b/1', 'one');
    await put('a/2', 'two');
    const listed = await ask('GET', 'a?below=true');
    expect(listed.said).toMatchObject({ path: 'a', below: { files: 2, directories: 1 }, total: 2 });
    const version = { 'if-match': JSON.stringify(listed.said.version) };
    const moved = await ask('MOVE', 'a', { headers: { ...version, destination: '/api/v1/files/new/c%20d' } });
    expect(moved).toMatchObject({ status: 201, said: { path: 'new/c d' } });
    expect((await ask('GET', 'new/c%20d/b/1')).body).toBe('one');
    expect((await ask('GET', 'a')).status).toBe(404);

    const now = { 'if-match': '*' };
    expect(await ask('DELETE', 'new', { headers: now })).toMatchObject({
      status: 428,
      said: { error: { message: expect.stringContaining('new holds 4 entries now') } },
    });
    expect((await ask('DELETE', 'new?entries=3', { headers: now })).status).toBe(412);
    expect(await ask('DELETE', 'new/c%20d/b', { headers: now })).toMatchObject({
      said: {
        error: {
          message: expect.stringMatching(/b holds 1 entry now: to delete it with the directory, send entries=1/),
        },
      },
    });
    expect((await ask('GET', 'new/c%20d/2')).body).toBe('two');
    expect(await ask('DELETE', 'new?entries=4', { headers: now })).toMatchObject({ status: 200, said: { entries: 5 } });
    expect((await ask('GET', '')).said).toMatchObject({ path: '', entries: [] });
  });
});

describe('[FA4] nothing is written', () => {
  test.each([
    ['.lockstep/config.toml', 400],
    ['a/.LOCKSTEP/x', 400],
    ['..%2Fescape', 400],
    ['a%2F..%2Fb', 400],
    ['%00', 400],
    [`${'x'.repeat(256)}`, 400],
  ])('at %s', async (path, status) => {
    for (const method of ['PUT', 'MKCOL', 'DELETE', 'GET'] as const) {
      expect([method, (await ask(method, path)).status]).toEqual([method, status]);
    }
    const headers = { 'if-match': '*', destination: `/api/v1/files/${path}` };
    await put('here', 'text');
    expect((await ask('MOVE', 'here', { headers })).status).toBe(400);
    expect((await ask('GET', 'here')).body).toBe('text');
  });

  test('where a rule, a directory, a file or a symbolic link is in the way', async () => {
    await put('.lockstepignore', '*.tmp\n');
    await put('file', 'text');
    await ask('MKCOL', 'directory');
    served.cluster.user('ant').symlink('link', 'link', 'directory');
    const conflicts = [
      ['x.tmp', /kept out by a rule/],
      ['directory', /a directory at directory/],
      ['file/below', /file is no directory/],
      ['link/below', /link is no directory/],
    ] as const;
    for (const [path, reason] of conflicts) {
      expect(await put(path, 'new', { 'if-match': '*' })).toMatchObject({
        status: 409,
        said: { error: { message: expect.stringMatching(reason) } },
      });
    }
    expect((await ask('GET', 'directory')).said).toMatchObject({ total: 0 });
  });

  test('where nothing may be replaced or moved into itself', async () => {
    await put('a/1', 'one');
    await put('b', 'two');
    const move = (to: string) => ask('MOVE', 'a', { headers: { 'if-match': '*', destination: `/api/v1/files/${to}` } });
    expect((await move('b')).status).toBe(412);
    expect((await move('a')).status).toBe(409);
    expect((await move('a/c')).status).toBe(409);
    expect((await ask('MOVE', 'a', { headers: { 'if-match': '*' } })).status).toBe(400);
    for (const destination of ['http://elsewhere/api/v1/files/x', '/x', '/api/v1/files/%ff']) {
      expect((await ask('MOVE', 'a', { headers: { 'if-match': '*', destination } })).status).toBe(400);
    }
    expect((await put('c', 'part', { 'content-range': 'bytes 0-3/10' })).status).toBe(400);
    expect((await put('c', 'text', { 'if-match': 'no quotes' })).status).toBe(400);
    expect((await ask('GET', 'c')).status).toBe(404);
  });

  test('twice: of two that are sent at once only one is put there', async () => {
    const answers = await Promise.all(['one', 'two'].map((text) => put('file', text, { 'if-none-match': '*' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 412]);
    const [first] = answers.filter(({ status }) => status === 201);
    expect((await ask('GET', 'file')).headers.etag).toBe(first?.headers.etag);
  });

  test('while the member is paused', async () => {
    await put('file', 'text');
    served.engine.pause.pause();
    const said = { error: { message: expect.stringContaining('ant is paused') } };
    expect(await put('other', 'text')).toMatchObject({ status: 409, said });
    expect(await ask('MKCOL', 'directory')).toMatchObject({ status: 409, said });
    expect(await ask('DELETE', 'file', { headers: { 'if-match': '*' } })).toMatchObject({ status: 409, said });
    expect((await ask('GET', 'file')).body).toBe('text');
  });

  test('for a page of another site, or without a login', async () => {
    const headers = { origin: 'http://evil.example', 'content-type': 'text/plain' };
    expect((await ask('PUT', 'file', { headers, payload: 'x' })).status).toBe(403);
    expect((await ask('GET', 'file')).status).toBe(404);
  });
});

test.each(['.lockstep/cluster.key', 'docs/.LOCKSTEP', 'LOCKST~1/x', '.lockstep%20'])(
  '[FA1] a name that stands for .lockstep is refused, and the sentence says to choose another: %s',
  async (path) => {
    const refusal = { status: 400, said: { error: { code: 'request-invalid' } } };
    for (const answer of [await ask('GET', path), await put(path, 'x'), await ask('MKCOL', path)]) {
      expect(answer).toMatchObject(refusal);
      expect(answer.said.error.message).toContain('Choose another name.');
    }
  },
);

test('[FA1] a weak entity tag never matches If-Match, and matches If-None-Match', async () => {
  const etag = String((await put('a', 'one')).headers.etag);
  for (const tags of [`W/${etag}`, `W/${etag}, "ant.1:999"`]) {
    const refused = await put('a', 'two', { 'if-match': tags });
    expect(refused).toMatchObject({ status: 412, headers: { etag }, said: { error: { code: 'version-mismatch' } } });
    expect(await ask('DELETE', 'a', { headers: { 'if-match': tags } })).toMatchObject({ status: 412 });
  }
  expect(await ask('GET', 'a', { headers: { 'if-none-match': `W/${etag}` } })).toMatchObject({ status: 304 });
  expect(await put('a', 'two', { 'if-match': `W/"x", ${etag}` })).toMatchObject({ status: 200 });
});

test('[FM9] a file that is larger than a file can be is refused before its bytes come', async () => {
  const refused = await put('film', '', { 'content-length': String(2 ** 60) });
  expect(refused).toMatchObject({ status: 413, said: { error: { code: 'body-too-large' } } });
  expect(refused.body).toContain('512 GiB');
});

test('[FM9] a file without a Content-Length is refused as soon as too many bytes have come, and nothing of it is left', async () => {
  const limited = await served.server({ fileBytesMax: 3 * 1_048_576 });
  const { port } = new URL(await limited.listen({ host: '127.0.0.1', port: 0 }));
  const { folder } = served.engine.context;
  const draft = folder.draft.bind(folder);
  const drafts = new Set<object>();
  folder.draft = () => {
    const made = draft();
    drafts.add(made);
    const drop = made.drop.bind(made);
    made.drop = () => {
      drafts.delete(made);
      return drop();
    };
    return made;
  };
  const send = async (mebibytes: number): Promise<{ status: number | undefined; code: string; sent: number }> => {
    const headers = { ...served.cookie, 'if-none-match': '*', host: `localhost:${port}` };
    const outgoing = request({ port, method: 'PUT', path: '/api/v1/files/film', headers });
    // The server need not take the rest.
    outgoing.on('error', () => undefined);
    let sent = 0;
    let answer: IncomingMessage | undefined;
    outgoing.once('response', (response) => {
      answer = response;
    });
    const block = Buffer.alloc(1_048_576);
    while (sent < mebibytes && answer === undefined) {
      if (!outgoing.write(block)) await Promise.race([once(outgoing, 'drain'), once(outgoing, 'response')]);
      sent++;
    }
    outgoing.end();
    const response = answer ?? ((await once(outgoing, 'response')) as [IncomingMessage])[0];
    const said = JSON.parse((await buffer(response)).toString('utf8'));
    return { status: response.statusCode, code: said.error?.code ?? 'done', sent };
  };
  expect(await send(1_000)).toMatchObject({
    status: 413,
    code: 'body-too-large',
    sent: expect.toSatisfy((n) => n < 500),
  });
  expect(drafts).toEqual(new Set());
  expect(served.ant.volume.disk.at('film')).toBeUndefined();
  expect(await send(3)).toMatchObject({ status: 201 });
});

test('[FA2] a read of a version that is not there any more is refused, and gets no bytes of another one', async () => {
  const old = String((await put('a', 'one')).headers.etag);
  const etag = String((await put('a', 'two', { 'if-match': old })).headers.etag);
  for (const method of ['GET', 'HEAD'] as const)
    expect(await ask(method, 'a', { headers: { 'if-match': old, range: 'bytes=1-' } })).toMatchObject({
      status: 412,
      headers: { etag },
    });
  const { said } = await ask('GET', 'a', { headers: { 'if-match': old, range: 'bytes=9-' } });
  expect(said.error).toMatchObject({ code: 'version-mismatch', version: JSON.parse(etag) });
  expect(await ask('GET', 'a', { headers: { 'if-match': 'two' } })).toMatchObject({ status: 400 });
  for (const tags of ['*', `${old}, ${etag}`])
    expect(await ask('GET', 'a', { headers: { 'if-match': tags } })).toMatchObject({ status: 200, body: 'two' });
});
