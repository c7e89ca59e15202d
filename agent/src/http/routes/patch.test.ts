import type { FastifyInstance, InjectOptions } from 'fastify';
import { beforeEach, describe, expect, test } from 'vitest';
import { ServedCluster } from '../../../test/support/served-cluster.ts';

let app: FastifyInstance;
let served: ServedCluster;

beforeEach(async () => {
  served = await ServedCluster.open();
  app = await served.server();
  served.cluster.begin();
});

async function ask(method: 'GET' | 'PUT' | 'PATCH' | 'MKCOL', path: string, more: Omit<InjectOptions, 'method'> = {}) {
  const options = { method, url: `/api/v1/files/${path}`, ...more } as InjectOptions;
  const { statusCode: status, headers, body, rawPayload } = await app.inject(options);
  const error = status >= 400 && body.startsWith('{') ? JSON.parse(body).error : undefined;
  return { status, headers, body, bytes: rawPayload, error, etag: String(headers.etag) };
}

/** Sends `body` for the bytes that `range` names: `FIRST-LAST/TOTAL`. */
function patch(path: string, range: string | undefined, body: string, headers: Record<string, string> = {}) {
  const named = range === undefined ? {} : { 'content-range': `bytes ${range}` };
  const all = { 'content-type': 'application/octet-stream', ...named, ...headers };
  return ask('PATCH', path, { payload: body, headers: all });
}

const versions = (path: string) =>
  served.engine.context.journal.log.rows({ path, beforeRow: 1_000_000, limit: 100 }).length;

describe('[FA7] bytes of a file', () => {
  test.each([
    ['0-1/*', 'XY', 'XYcdef'],
    ['2-3/6', 'XY', 'abXYef'],
    ['5-5/*', 'X', 'abcdeX'],
    ['0-5/*', 'UVWXYZ', 'UVWXYZ'],
    ['5-8/*', 'WXYZ', 'abcdeWXYZ'],
    ['6-7/8', 'XY', 'abcdefXY'],
    ['6-7/1000', 'XY', 'abcdefXY'],
  ])('%s are replaced or added, in one version', async (range, body, whole) => {
    const { etag } = await ask('PUT', 'file', { payload: 'abcdef' });
    const patched = await patch('file', range, body, { 'if-match': etag });
    expect(patched).toMatchObject({ status: 200, body: expect.stringContaining('"isNew":false') });
    expect(await ask('GET', 'file')).toMatchObject({ body: whole, etag: patched.etag });
    expect(patched.etag).not.toBe(etag);
    expect(versions('file')).toBe(2);
  });

  test('are added to an empty file, and equal ones change nothing', async () => {
    const { etag } = await ask('PUT', 'file');
    const first = await patch('file', '0-2/*', 'abc', { 'if-match': etag });
    expect(first.status).toBe(200);
    const equal = await patch('file', '1-2/*', 'bc', { 'if-match': '*' });
    expect(equal).toMatchObject({ status: 200, etag: first.etag });
    expect(versions('file')).toBe(2);
  });
});

describe('[FA7] nothing changes', () => {
  test.each(['1152921504606846975-1152921504606846976/*', '0-0/1152921504606846976', '549755813888-549755813888/*'])(
    '[FM9] by bytes that a file cannot have: %s',
    async (range) => {
      const { etag } = await ask('PUT', 'file', { payload: 'abc' });
      const refused = await patch('file', range, 'X', { 'if-match': etag });
      expect(refused).toMatchObject({ status: 413, error: { code: 'body-too-large' } });
      expect(refused.error.message).toContain('A file has at most 549755813888 bytes (512 GiB)');
      expect((await ask('GET', 'file')).body).toBe('abc');
    },
  );

  test('without the version, or with another one, which the answer names', async () => {
    const { etag } = await ask('PUT', 'file', { payload: 'abc' });
    const version = JSON.parse(etag);
    const unnamed = await patch('file', '0-0/*', 'X');
    expect(unnamed).toMatchObject({ status: 428, error: { code: 'version-required', version } });
    const other = await patch('file', '0-0/*', 'X', { 'if-match': '"other:1"' });
    expect(other).toMatchObject({ status: 412, etag, error: { code: 'version-mismatch', version } });
    expect((await patch('file', '0-0/*', 'X', { 'if-none-match': '*' })).status).toBe(412);
    expect((await patch('nothing', '0-0/*', 'X', { 'if-match': '*' })).status).toBe(404);
    expect(await ask('GET', 'file')).toMatchObject({ body: 'abc', etag });
  });

  test('for a range after the end, or a file that is longer than the sender expects', async () => {
    const { etag } = await ask('PUT', 'file', { payload: 'abc' });
    const headers = { 'if-match': etag };
    const message = 'file has 3 bytes: what is written must begin in it or at its end, at byte 3.';
    expect(await patch('file', '4-4/*', 'X', headers)).toMatchObject({
      status: 416,
      headers: { 'content-range': 'bytes */3' },
      error: { code: 'range-invalid', message },
    });
    expect((await patch('file', '0-0/2', 'X', headers)).status).toBe(416);
    expect((await ask('GET', 'file')).body).toBe('abc');
  });

  test('for a body that is not as long as the range, and without a range', async () => {
    const { etag } = await ask('PUT', 'file', { payload: 'abc' });
    const headers = { 'if-match': etag };
    for (const [range, body] of [
      ['0-1/*', 'X'],
      ['0-1/*', 'XYZ'],
      ['0-1/*', ''],
      [undefined, 'X'],
      ['1-0/*', 'X'],
    ] as const) {
      expect(await patch('file', range, body, headers)).toMatchObject({
        status: 400,
        error: { code: 'request-invalid', message: expect.stringContaining('Content-Range') },
      });
    }
    expect(await ask('GET', 'file')).toMatchObject({ body: 'abc', etag });
  });

  test('at a directory, a link, an ignored path and one that no entry can have, and while the member is paused', async () => {
    await ask('PUT', 'file', { payload: 'abc' });
    await ask('PUT', 'kept.tmp', { payload: 'abc' });
    await ask('PUT', '.lockstepignore', { payload: '*.tmp\n' });
    await ask('MKCOL', 'directory');
    served.cluster.user('ant').symlink('link', 'link', 'file');
    const headers = { 'if-match': '*' };
    for (const [path, status, reason] of [
      ['directory', 409, /a directory at directory/],
      ['link', 409, /symbolic link to file/],
      ['kept.tmp', 409, /kept out by a rule/],
      ['file/below', 409, /file is no directory/],
      ['.lockstep/config.toml', 400, /./],
      ['..%2Fescape', 400, /./],
      ['%00', 400, /./],
    ] as const) {
      const { status: answered, error } = await patch(path, '0-0/*', 'X', headers);
      expect([path, answered, error.message]).toEqual([path, status, expect.stringMatching(reason)]);
    }
    served.engine.pause.pause();
    expect(await patch('file', '0-0/*', 'X', headers)).toMatchObject({ status: 409 });
    expect((await ask('GET', 'file')).body).toBe('abc');
  });
});

test('[FA1] [FA7] of requests at once for the same version exactly one changes the file', async () => {
  const { etag } = await ask('PUT', 'file', { payload: 'abcdef' });
  const headers = { 'if-match': etag };
  const answers = await Promise.all([
    patch('file', '0-0/*', 'X', headers),
    patch('file', '5-5/*', 'Y', headers),
    ask('PUT', 'file', { payload: 'Z', headers }),
  ]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
  const [first] = answers.filter(({ status }) => status === 200);
  for (const answer of answers) expect(answer.etag).toBe(first?.etag);
  expect(['Xbcdef', 'abcdeY', 'Z']).toContain((await ask('GET', 'file')).body);
});
