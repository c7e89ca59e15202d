import { shownBytesMax } from '@lockstep/shared/present';
import type { FastifyInstance } from 'fastify';
import { beforeEach, describe, expect, test } from 'vitest';
import { ServedCluster } from '../../../test/support/served-cluster.ts';
import { contentOfText, virtualContent } from '../../sim/disk/content.ts';
import { shownType } from '../shown-type.ts';

let app: FastifyInstance;
let served: ServedCluster;

beforeEach(async () => {
  served = await ServedCluster.open();
  app = await served.server();
  served.cluster.begin();
});

describe('[CF9] a content that is served', () => {
  test.each([
    ['page.html', 'text/plain; charset=utf-8', 'inline'],
    ['drawing.svg', 'text/plain; charset=utf-8', 'inline'],
    ['photo.PNG', 'image/png', 'inline'],
  ])('%s can do nothing in a browser', async (path, type, disposition) => {
    served.cluster.user('ant').write(path, path, contentOfText('<script>alert(1)</script>'));
    await expect.poll(() => served.ant.journal.totals.counts().files).toBe(1);
    const { statusCode, headers, body } = await app.inject(`/api/v1/content/${path}`);
    expect([statusCode, body]).toEqual([200, '<script>alert(1)</script>']);
    expect(headers).toMatchObject({
      'content-type': type,
      'content-disposition': disposition,
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
  });

  test('that is too large to be shown can be saved, and runs nothing either', async () => {
    served.cluster.user('ant').write('long #1.txt', 'long', virtualContent('long', 3 * 1_048_576));
    served.cluster.user('ant').write('short #1.html', 'short', contentOfText('<script>alert(1)</script>'));
    await expect.poll(() => served.ant.journal.totals.counts().files).toBe(2);
    const shown = await app.inject('/api/v1/content/long%20%231.txt');
    expect([shown.statusCode, shown.json()]).toMatchObject([409, { error: { code: 'content-unavailable' } }]);
    const large = await app.inject('/api/v1/content/long%20%231.txt?download=true');
    expect(large.statusCode).toBe(200);
    const { statusCode, headers, body } = await app.inject('/api/v1/content/short%20%231.html?download=true');
    expect([statusCode, body]).toEqual([200, '<script>alert(1)</script>']);
    expect(headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      'content-length': '25',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    // A browser goes on with a download that broke off.
    const rest = await app.inject({
      url: '/api/v1/content/short%20%231.html?download=true',
      headers: { range: 'bytes=8-', 'if-range': String(headers.etag) },
    });
    expect([rest.statusCode, rest.body, rest.headers['content-range']]).toEqual([
      206,
      'alert(1)</script>',
      'bytes 8-24/25',
    ]);
  });

  test.each(['.lockstep/cluster.key', 'a/.lockstep/keys', '..%2Fsecret', 'a/..%2fb', '/etc/passwd'])(
    '%s is refused',
    async (path) => {
      const { statusCode } = await app.inject(`/api/v1/content/${path}`);
      expect([400, 404]).toContain(statusCode);
    },
  );

  test('a file that is not text is for saving only, and has a limit', () => {
    expect(shownType('a', Uint8Array.of(0xff, 0xfe))).toBe('application/octet-stream');
    expect(shownType('a', Uint8Array.of(65, 0))).toBe('application/octet-stream');
    expect(shownType('constructor', Uint8Array.of(65))).toBe('text/plain; charset=utf-8');
    expect([shownBytesMax('a.txt'), shownBytesMax('a.jpg')]).toEqual([2_097_152, 20_971_520]);
  });
});

test('[CF8] an invalid choice is refused', async () => {
  const conflicts = [{ copy: 'x', keep: 'neither', copySeen: 'a:1', originalSeen: null }];
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/api/v1/conflicts/resolve',
    payload: { conflicts },
  });
  expect(statusCode).toBe(400);
  expect(body).toContain('keep');
});
