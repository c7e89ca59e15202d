import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServedCluster } from '../../test/support/served-cluster.ts';

let directory: string;
let app: FastifyInstance;

const build = async (assets: string) => (await ServedCluster.open()).server({ assets });

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-http-'));
  await mkdir(join(directory, 'assets'));
  await writeFile(
    join(directory, 'index.html'),
    '<!doctype html><meta name="style-nonce" content="__LOCKSTEP_NONCE__">',
  );
  await writeFile(join(directory, 'assets', 'index-1234.js'), 'export {};');
  await writeFile(join(directory, '.secret'), 'no');
  app = await build(directory);
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function get(url: string, headers: Record<string, string> = {}) {
  const response = await app.inject({ method: 'GET', url, headers });
  return { status: response.statusCode, headers: response.headers, text: response.body };
}

test('the page permits its own files and one style element, and nothing else', async () => {
  const { headers, text } = await get('/');
  const policy = String(headers['content-security-policy']);
  const nonce = /content="([\w-]+)"/.exec(text)?.[1];
  expect(nonce).toMatch(/^[\w-]{22}$/);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain(`style-src 'self' 'nonce-${nonce}';`);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|https?:/);
  expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
  expect((await get('/index.html')).text).not.toContain(nonce);
});

test('[DB-A12] after an installation, before the agent is started again, the page is that of the files that are there', async () => {
  await writeFile(join(directory, 'index.html'), '<!doctype html><script src="/assets/index-5678.js"></script>');
  expect((await get('/')).text).toContain('index-5678.js');
  await rm(join(directory, 'index.html'));
  expect(await get('/')).toMatchObject({ status: 200, text: expect.stringContaining('style-nonce') });
});

test('files with a hash in their name are kept by browsers', async () => {
  const { status, headers } = await get('/assets/index-1234.js');
  expect(status).toBe(200);
  expect(headers['cache-control']).toMatch(/immutable/);
  expect(headers['content-type']).toMatch(/javascript/);
  expect(headers['x-content-type-options']).toBe('nosniff');
});

test.each([
  ['br, gzip', 'br', 'brotli'],
  ['gzip', 'gzip', 'gzip'],
  ['identity', undefined, 'export {};'],
])('[DB-A8] a client that accepts %s gets the file that the build compressed so', async (accepted, encoding, text) => {
  await writeFile(join(directory, 'assets', 'index-1234.js.br'), 'brotli');
  await writeFile(join(directory, 'assets', 'index-1234.js.gz'), 'gzip');
  const answer = await get('/assets/index-1234.js', { 'accept-encoding': accepted });
  expect(answer.text).toBe(text);
  expect(answer.headers['content-encoding']).toBe(encoding);
  expect(answer.headers['content-type']).toMatch(/javascript/);
  expect(answer.headers.vary).toBe('accept-encoding');
  expect(answer.headers['cache-control']).toMatch(/immutable/);
});

test.each(['/conflicts', '/files/notes/a.txt?member=x', '/latency/a/b'])(
  '[API5] %s is the page for a browser, and 404 for a program',
  async (url) => {
    const { status, headers, text } = await get(url, { accept: 'text/html,*/*;q=0.8' });
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^text\/html/);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-security-policy']).toContain(`'nonce-${/content="([\w-]+)"/.exec(text)?.[1]}'`);
    expect((await get(url)).status).toBe(404);
  },
);

test.each(['/api/v1/none', '/api/v1/paths', '/assets/none.js'])('[API5] %s is no page', async (url) => {
  const { status, headers } = await get(url, { accept: 'text/html' });
  expect(status).toBe(404);
  expect(headers['content-type']).toMatch(/json/);
});

test.each(['/.secret', '/../package.json', '/%2e%2e/package.json', '/assets/', '/assets/none.js'])(
  '%s is not served',
  async (url) => {
    const { status, headers } = await get(url);
    expect(status).toBeGreaterThanOrEqual(403);
    expect(headers['cache-control']).toBe('no-store');
  },
);

test('without a build the API works and the page says what to do', async () => {
  const bare = await build(join(directory, 'none'));
  expect((await bare.inject('/api/v1/status')).statusCode).toBe(200);
  const page = await bare.inject('/');
  expect(page.statusCode).toBe(503);
  expect(page.body).toContain('npm run build');
});
