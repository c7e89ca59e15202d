import { LockstepError } from '@lockstep/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeBase32, encodeBase32 } from './base32.ts';
import { clusterIdOf, createClusterKey, formatClusterKey, parseClusterKey } from './cluster-key.ts';

const key = new Uint8Array(32).map((_, index) => 7 * index);
const line = `lockstep-key-1 ${encodeBase32(key)}`;

describe('a cluster key file', () => {
  test('gives back the key', () => {
    const drawn = createClusterKey();
    expect(parseClusterKey(formatClusterKey(drawn), 'cluster.key')).toEqual(drawn);
  });

  test.each([
    ['with comments and blank lines', `# mine\n\n${line}\n# end\n`],
    ['with line ends of another system', `# mine\r\n${line}\r\n`],
    ['with spaces around', `  ${line}  `],
  ])('%s is read', (_what, text) => {
    expect(parseClusterKey(text, 'cluster.key')).toEqual(key);
  });

  test.each([
    ['', 'contains no key'],
    ['# only this', 'contains no key'],
    [`${line}\n${line}`, 'more than one line'],
    [encodeBase32(key), 'has no line'],
    [`lockstep-key-2 ${encodeBase32(key)}`, 'has no line'],
    [`${line} more`, 'has no line'],
    [line.slice(0, -1), 'cut short or mistyped'],
    [`${line}a`, 'cut short or mistyped'],
    [line.toUpperCase().replace('LOCKSTEP-KEY', 'lockstep-key'), 'cut short or mistyped'],
    [`lockstep-key-1 ${'1'.repeat(52)}`, 'cut short or mistyped'],
  ])('%j is refused without being repeated', (text, fault) => {
    const attempt = () => parseClusterKey(text, '/x/cluster.key');
    expect(attempt).toThrow(LockstepError);
    expect(attempt).toThrow(`/x/cluster.key `);
    expect(attempt).toThrow(fault);
    expect(attempt).not.toThrow(encodeBase32(key).slice(0, 10));
  });

  test('the cluster id is stable and not part of the key', () => {
    expect(clusterIdOf(key)).toMatch(/^[a-z2-7]{8}$/);
    expect(clusterIdOf(key)).toBe(clusterIdOf(Uint8Array.from(key)));
    expect(clusterIdOf(key)).not.toBe(clusterIdOf(createClusterKey()));
    expect(encodeBase32(key)).not.toContain(clusterIdOf(key));
  });
});

describe('base32', () => {
  test.each([
    ['', ''],
    ['f', 'my'],
    ['fo', 'mzxq'],
    ['foo', 'mzxw6'],
    ['foobar', 'mzxw6ytboi'],
  ])('%j is %j, as in RFC 4648', (text, encoded) => {
    expect(encodeBase32(new TextEncoder().encode(text))).toBe(encoded);
  });

  test('comes back, and has one spelling', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(decodeBase32(encodeBase32(bytes))).toEqual(bytes);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz2345678IſA=') }), (text) => {
        const bytes = decodeBase32(text);
        if (bytes !== undefined) expect(encodeBase32(bytes)).toBe(text);
      }),
    );
  });
});
