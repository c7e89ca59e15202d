import { expect, test } from 'vitest';
import { pathLink, pathOfLink } from './links.ts';

test.each(['', 'a', 'a/b c/d.txt', '100%/%25', 'new\nline', 'ü/🐜', '?#&=', '..a', '.hidden', 'back\\slash'])(
  '[DB-F2] the link of path %o is parsed back to the path',
  (path) => {
    const { pathname, hash, search } = new URL(pathLink(path), 'http://127.0.0.1');
    expect([pathOfLink(pathname), hash, search]).toEqual([path, '', '']);
    const searching = new URL(pathLink(path, '50% ö&?'), 'http://127.0.0.1');
    expect([pathOfLink(searching.pathname), searching.searchParams.get('q')]).toEqual([path, '50% ö&?']);
  },
);

test('[DB-F2] a damaged link is recognised', () => {
  expect(pathOfLink('/files/%zz')).toBeUndefined();
  expect(pathOfLink('/files/..%2Fstatus')).toBeUndefined();
  expect(pathOfLink('/files/a/%2e%2e')).toBeUndefined();
});
