import { describe, expect, test } from 'vitest';
import { type DiffRow, differInEndingsOnly, diffParts, diffRows } from './text-diff.ts';

function rowsOf(left: string, right: string): readonly DiffRow[] | undefined {
  const parts = diffParts(left, right);
  return parts && diffRows(parts);
}

/** Rows as short texts: `=a`, `a|b`, `…3`. */
function shown(left: string, right: string): readonly string[] | undefined {
  return rowsOf(left, right)?.map((row) => {
    if (row.kind === 'gap') return `…${row.lines}`;
    return row.kind === 'same' ? `=${row.left.text}` : `${row.left?.text ?? ''}|${row.right?.text ?? ''}`;
  });
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}\n`).join('');

describe('[DB-C2] two texts side by side', () => {
  test.each<[string, string, string, readonly string[]]>([
    ['one line', 'a\n', 'b\n', ['a|b']],
    ['no line break at the end', 'a', 'b', ['a|b']],
    ['one is empty', '', 'a\nb\n', ['|a', '|b']],
    ['a line more', 'a\nc\n', 'a\nb\nc\n', ['=a', '|b', '=c']],
    ['two for one', 'a\nx\nz\n', 'a\ny1\ny2\nz\n', ['=a', 'x|y1', '|y2', '=z']],
    ['only in the first', 'a\nb\n', 'a\n', ['=a', 'b|']],
  ])('%s', (_, left, right, rows) => {
    expect(shown(left, right)).toEqual(rows);
  });

  test('identical lines are omitted except for three around each change', () => {
    expect(shown(`${numbers(20)}a\n`, `${numbers(20)}b\n`)).toEqual(['…17', '=18', '=19', '=20', 'a|b']);
    expect(shown(`a\n${numbers(20)}c\n`, `b\n${numbers(20)}d\n`)).toEqual([
      'a|b',
      '=1',
      '=2',
      '=3',
      '…14',
      '=18',
      '=19',
      '=20',
      'c|d',
    ]);
    expect(shown(`a\n${numbers(7)}c\n`, `b\n${numbers(7)}d\n`)).toHaveLength(9);
  });

  test('each line keeps its number', () => {
    const rows = rowsOf('a\nb\nc\n', 'x\na\nc\n') ?? [];
    expect(rows.map((row) => row.kind !== 'gap' && [row.left?.number, row.right?.number])).toEqual([
      [undefined, 1],
      [1, 2],
      [2, undefined],
      [3, 3],
    ]);
  });

  test('the first row of each place has its number', () => {
    const places = rowsOf('a\nb\nc\nd\n', 'x\ny\nb\nc\nz\n')?.map((row) => row.kind === 'changed' && row.place);
    expect(places).toEqual([0, undefined, false, false, 1]);
  });

  test('each line keeps its ending', () => {
    const [row] = rowsOf('a\r\n', 'b') ?? [];
    expect(row).toMatchObject({ left: { text: 'a', ending: '\r\n' }, right: { text: 'b', ending: '' } });
  });

  test('the comparison of texts with nothing in common is given up', () => {
    const text = (letter: string) => Array.from({ length: 20_000 }, (_, index) => `${letter}${index}\n`).join('');
    expect(rowsOf(text('a'), text('b'))).toBeUndefined();
  });
});

test.each([
  ['a\nb\n', 'a\r\nb\r\n', true],
  ['a', 'a\n', true],
  ['a\n', 'a\n\n\n', false],
  ['a\n', 'b\r\n', false],
  ['a\n', 'a\n', false],
])('[DB-C2] %o and %o differ in their line endings only: %s', (left, right, answer) => {
  expect(differInEndingsOnly(left, right)).toBe(answer);
});
