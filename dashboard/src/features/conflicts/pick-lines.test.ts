import { describe, expect, test } from 'vitest';
import { type Pick, resultBytes, resultLines } from './pick-lines.ts';
import { diffParts } from './text-diff.ts';

function result(left: string, right: string, ...picks: readonly Pick[]): string {
  const parts = diffParts(left, right) ?? [];
  const lines = resultLines(parts, new Map(picks.entries()));
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(resultBytes(lines));
}

describe('[DB-C7] the result of picked lines', () => {
  const [left, right] = ['a\nl1\nb\nl2\nc\n', 'a\nr1\nb\nr2\nc\n'];

  test.each<[readonly Pick[], string]>([
    [[], left],
    [['left', 'left'], left],
    [['right', 'right'], right],
    [['right'], 'a\nr1\nb\nl2\nc\n'],
    [['left', 'right'], 'a\nl1\nb\nr2\nc\n'],
    [['left-right', 'right-left'], 'a\nl1\nr1\nb\nr2\nl2\nc\n'],
  ])('%o', (picks, expected) => {
    expect(result(left, right, ...picks)).toBe(expected);
  });

  test.each([
    ['CRLF', 'a\r\nb\r\nc', 'a\r\nB\r\nc'],
    ['mixed line endings', 'a\r\nb\nc\n', 'a\nb\r\nc\n'],
    ['a byte order mark', '\uFEFFa\nb\n', 'a\nB\n'],
    ['no line break at the end', 'a\nb', 'a\nb\n'],
    ['lone carriage returns', 'a\rb\r\nc\r', 'a\rB\r\nc\r'],
    ['an empty version', '', 'a\n'],
    ['empty lines', '\n\n\na\n\n', '\n\nb\n\n\n'],
  ])('keeps %s exactly', (_, one, other) => {
    const all = (pick: Pick) => result(one, other, ...Array.from({ length: 9 }, () => pick));
    expect(all('left')).toBe(one);
    expect(all('right')).toBe(other);
  });

  test('a last line without a line break gets one if another line follows it', () => {
    expect(result('a\nx', 'a\ny\n', 'left-right')).toBe('a\nx\ny\n');
    expect(result('a\nx', 'a\ny', 'right-left')).toBe('a\ny\nx');
    expect(result('a\r\nx', 'a\r\ny', 'left-right')).toBe('a\r\nx\r\ny');
  });

  test('says of each line which version it is from', () => {
    const lines = resultLines(diffParts(left, right) ?? [], new Map([[1, 'right']]));
    expect(lines.map(({ from }) => from)).toEqual(['both', 'left', 'both', 'right', 'both']);
  });
});
