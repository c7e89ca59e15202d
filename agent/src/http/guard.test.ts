import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, test } from 'vitest';
import { type GuardedRequest, hostName, refusalOf } from './guard.ts';

const hostNames = new Set(['ant', '192.0.2.7']);

function request(method: string, headers: IncomingHttpHeaders, more: Partial<GuardedRequest> = {}): GuardedRequest {
  return { method, upgrade: false, headers, localAddress: '127.0.0.1', ...more };
}

describe('the name in a Host header', () => {
  test.each([
    ['localhost', 'localhost'],
    ['LocalHost:4800', 'localhost'],
    ['localhost.:80', 'localhost'],
    ['127.0.0.1:4800', '127.0.0.1'],
    ['[::1]:4800', '::1'],
    ['[::1]', '::1'],
    ['::1', undefined],
    ['user@localhost', undefined],
    ['localhost/evil', undefined],
    ['localhost:4800:1', undefined],
    ['', undefined],
  ])('%s is %s', (authority, name) => {
    expect(hostName(authority)).toBe(name);
  });
});

describe('[API1] the Host headers that are answered', () => {
  test.each<[string | undefined, Partial<GuardedRequest>, boolean]>([
    ['localhost:4800', {}, true],
    ['127.0.0.1:4800', {}, true],
    ['[::1]:4800', {}, true],
    ['ant:4800', {}, true],
    ['192.0.2.7', {}, true],
    ['10.0.0.5:4800', { localAddress: '10.0.0.5' }, true],
    ['10.0.0.5:4800', { localAddress: '::ffff:10.0.0.5' }, true],
    ['10.0.0.6:4800', { localAddress: '10.0.0.5' }, false],
    ['evil.example', {}, false],
    ['localhost.evil.example', {}, false],
    ['127.0.0.1.evil.example', {}, false],
    ['', {}, false],
    [undefined, {}, false],
  ])('%s with %o: %s', (host, more, answered) => {
    const headers = host === undefined ? {} : { host };
    expect(refusalOf(request('GET', headers, more), hostNames)?.code).toBe(answered ? undefined : 'forbidden-host');
  });
});

describe('[API1] the Origin headers that are answered', () => {
  const host = 'localhost:4800';
  test.each<[string, IncomingHttpHeaders, Partial<GuardedRequest>, boolean]>([
    ['POST', {}, {}, true],
    ['POST', { origin: 'http://localhost:4800' }, {}, true],
    ['POST', { origin: 'http://localhost:4800', 'sec-fetch-site': 'same-origin' }, {}, true],
    ['POST', { origin: 'https://localhost:4800' }, {}, true],
    ['POST', { 'sec-fetch-site': 'none' }, {}, true],
    ['POST', { origin: 'http://localhost:5173' }, {}, false],
    ['POST', { origin: 'http://127.0.0.1:4800' }, {}, false],
    ['POST', { origin: 'http://evil.example' }, {}, false],
    ['POST', { origin: 'null' }, {}, false],
    ['POST', { origin: 'file://localhost:4800' }, {}, false],
    ['POST', { 'sec-fetch-site': 'cross-site' }, {}, false],
    ['POST', { 'sec-fetch-site': 'same-site' }, {}, false],
    ['DELETE', { origin: 'http://evil.example' }, {}, false],
    ['GET', {}, {}, true],
    ['GET', { origin: 'http://localhost:4800' }, {}, true],
    ['GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' }, {}, true],
    ['POST', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' }, {}, false],
    ['GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' }, {}, false],
    ['GET', { 'sec-fetch-site': 'same-site', 'sec-fetch-dest': 'script' }, {}, false],
    ['GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' }, {}, false],
    ['GET', { 'sec-fetch-site': 'cross-site' }, {}, false],
    ['GET', { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'image' }, {}, true],
    ['GET', { origin: 'http://evil.example' }, {}, false],
    ['GET', { origin: 'null' }, {}, false],
    ['HEAD', { origin: 'http://evil.example' }, {}, false],
    ['OPTIONS', { origin: 'http://evil.example' }, {}, false],
    ['GET', { origin: 'http://evil.example' }, { upgrade: true }, false],
    ['GET', { origin: 'http://localhost:4800' }, { upgrade: true }, true],
    ['GET', {}, { upgrade: true }, true],
  ])('%s with %o %o: %s', (method, headers, more, allowed) => {
    const refusal = refusalOf(request(method, { host, ...headers }, more), hostNames);
    expect(refusal?.code).toBe(allowed ? undefined : 'forbidden-origin');
  });

  test('a port that is the scheme’s own may be left out', () => {
    const headers = { host: 'localhost:80', origin: 'http://localhost' };
    expect(refusalOf(request('POST', headers), hostNames)).toBeUndefined();
  });
});
