import { describe, expect, test } from 'vitest';
import { formatHostPort, parseHostPort } from './address.ts';

describe('host and port', () => {
  test.each([
    ['127.0.0.1:80', { host: '127.0.0.1', port: 80 }],
    ['[::1]:0', { host: '::1', port: 0 }],
    ['ant.example.net:65535', { host: 'ant.example.net', port: 65_535 }],
  ])('%s is read and written back', (text, parsed) => {
    expect(parseHostPort(text)).toEqual(parsed);
    expect(formatHostPort(parsed)).toBe(text);
  });

  test.each(['', 'ant', ':80', '::1:80', 'ant:65536', 'ant:x', 'a b:1', 'ant:1/'])('%j is refused', (text) => {
    expect(parseHostPort(text)).toBeUndefined();
  });
});
