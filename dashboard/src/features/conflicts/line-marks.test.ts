import { describe, expect, test } from 'vitest';
import { markLines, markWords, plainLine, type ShownLine } from './line-marks.ts';
import { diffParts, diffRows } from './text-diff.ts';

/** A line as text, with marks in brackets. */
const text = ({ pieces }: ShownLine) => pieces.map((piece) => (piece.only ? `[${piece.text}]` : piece.text)).join('');

const rowsOf = (left: string, right: string) => diffRows(diffParts(left, right) ?? []);

describe('[DB-C6] marks within a line', () => {
  test.each([
    ['it begins in April', 'it begins in May', 'it begins in [April]', 'it begins in [May]'],
    ['one two', 'one big two', 'one two', 'one [big ]two'],
    ['price: 10 kr', 'price: 12 kr', 'price: [10] kr', 'price: [12] kr'],
  ])('%s | %s', (left, right, ...expected) => {
    const pair = markWords(left, right);
    expect(pair && [text(pair.left), text(pair.right)]).toEqual(expected);
  });

  test('lines with little in common have none', () => {
    expect(markWords('something else', 'nothing of it at all')).toBeUndefined();
  });

  test('each changed pair of lines is marked by its row', () => {
    const { pairs, unmarked } = markLines(rowsOf('a\nsaid ant today\n', 'a\nsaid bee today\n'), () => 0);
    expect([...pairs.keys()]).toEqual([1]);
    expect(unmarked).toBe(0);
  });

  test('the words of a long line are not compared, and only the part that differs is shown', () => {
    const [left, right] = [
      `${'x'.repeat(50_000)}ant${'y'.repeat(50_000)}`,
      `${'x'.repeat(50_000)}bee${'y'.repeat(50_000)}`,
    ];
    const { pairs, unmarked } = markLines(rowsOf(left, right), () => 0);
    expect([pairs.size, unmarked]).toEqual([0, 1]);
    const shown = plainLine(left, right);
    expect(text(shown)).toContain('xantyyy');
    expect(text(shown)).toHaveLength(1_000);
    expect(shown.before + 1_000 + shown.after).toBe(left.length);
  });

  test('a comparison that takes too long ends, and says how many lines it left out', () => {
    const lines = (by: string) => Array.from({ length: 9 }, (_, index) => `line ${index} by ${by}\n`).join('');
    let now = 0;
    const { pairs, unmarked } = markLines(rowsOf(lines('ant'), lines('bee')), () => (now += 100));
    expect(pairs.size).toBeGreaterThan(0);
    expect(pairs.size + unmarked).toBe(9);
    expect(unmarked).toBeGreaterThan(0);
  });
});
