import { styleText } from 'node:util';
import { describe, expect, test } from 'vitest';
import { printable } from './format.ts';
import { formatTable } from './table.ts';

describe('a name from another source cannot forge output', () => {
  test.each([
    ['a\nb', 'a\\nb'],
    ['\x1b[2J', '\\u{1b}[2J'],
    ['\u202eexe', '\\u{202e}exe'],
    ['naïve 🙂 %\\', 'naïve 🙂 %\\'],
  ])('%j', (name, shown) => {
    expect(printable(name)).toBe(shown);
  });
});

test('a table is aligned for any cells', () => {
  const table = formatTable(
    [{ title: 'NAME' }, { title: 'FILES', align: 'right' }, { title: 'STATE' }],
    [
      [styleText('green', 'ant', { validateStream: false }), '1,204', 'active'],
      ['日本', '7', ''],
    ],
  );
  expect(table.replaceAll('\x1b[32m', '').replaceAll('\x1b[39m', '').split('\n')).toEqual([
    'NAME  FILES  STATE',
    'ant   1,204  active',
    '日本      7',
  ]);
});
