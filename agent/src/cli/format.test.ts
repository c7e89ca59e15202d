import { describe, expect, test } from 'vitest';
import { formatAgo, formatBytes, formatElapsed, formatRoundTrip, plural, printable } from './format.ts';
import { paintFor } from './style.ts';
import { formatTable } from './table.ts';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [1_234_567_890, '1.2 GB'],
  [999_949, '999.9 kB'],
  [999_950, '1.0 MB'],
  [5e18, '5000.0 PB'],
])('%d bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test.each([
  [0, 'now'],
  [999, 'now'],
  [1_000, '1 second ago'],
  [185_000, '3 minutes ago'],
  [7_200_000, '2 hours ago'],
  [86_400_000 * 3, '3 days ago'],
  [-3_600_000, 'in 1 hour'],
])('%d ms before now is %s', (ms, text) => {
  expect(formatAgo(1e12 - ms, 1e12)).toBe(text);
});

test.each([
  [4, '4 ms'],
  [900, '0.9 s'],
  [59_940, '59.9 s'],
  [59_960, '1 min 0 s'],
  [250_000, '4 min 10 s'],
  [7_500_000, '2 h 5 min'],
])('%d ms take %s', (ms, text) => {
  expect(formatElapsed(ms)).toBe(text);
});

test('counts and round trips', () => {
  expect(plural(1, 'file')).toBe('1 file');
  expect(plural(1204, 'file')).toBe('1,204 files');
  expect(plural(2, 'copy', 'copies')).toBe('2 copies');
  expect([0.42, 12.6, null, undefined].map(formatRoundTrip)).toEqual(['0.4 ms', '13 ms', '-', '-']);
});

describe('a name that somebody chose cannot forge output', () => {
  test.each([
    ['a\nb', 'a\\nb'],
    ['\x1b[2J', '\\u{1b}[2J'],
    ['\u202eexe', '\\u{202e}exe'],
    ['naïve 🙂 %\\', 'naïve 🙂 %\\'],
  ])('%j', (name, shown) => {
    expect(printable(name)).toBe(shown);
  });
});

test('a table is aligned whatever stands in it', () => {
  const paint = paintFor({ isTTY: true }, {});
  const table = formatTable(
    [{ title: 'NAME' }, { title: 'FILES', align: 'right' }, { title: 'STATE' }],
    [
      [paint('green', 'ant'), '1,204', 'active'],
      ['日本', '7', ''],
    ],
  );
  expect(table.replaceAll('\x1b[32m', '').replaceAll('\x1b[39m', '').split('\n')).toEqual([
    'NAME  FILES  STATE',
    'ant   1,204  active',
    '日本      7',
  ]);
});

test.each([
  [{ isTTY: true }, {}, '\x1b[31mx\x1b[39m'],
  [{ isTTY: true }, { NO_COLOR: '1' }, 'x'],
  [{ isTTY: true }, { TERM: 'dumb' }, 'x'],
  [{}, {}, 'x'],
])('colour for %j and %j', (stream, env, text) => {
  expect(paintFor(stream, env)('red', 'x')).toBe(text);
});
