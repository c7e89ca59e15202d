import { stripVTControlCharacters } from 'node:util';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
}

const wide = /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/u;

/** Terminal columns that `text` takes: colours take none, East Asian characters and emoji two. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(
    stripVTControlCharacters(text),
  )) {
    width += wide.test(segment) ? 2 : 1;
  }
  return width;
}

/** Rows under titles, aligned, without trailing blanks. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const lines = [columns.map(({ title }) => title), ...rows];
  const widths = columns.map((_column, index) => Math.max(...lines.map((line) => displayWidth(line[index] ?? ''))));
  return lines
    .map((line) =>
      columns
        .map(({ align }, index) => {
          const cell = line[index] ?? '';
          const gap = ' '.repeat((widths[index] ?? 0) - displayWidth(cell));
          return align === 'right' ? gap + cell : cell + gap;
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
