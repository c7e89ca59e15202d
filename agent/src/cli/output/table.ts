import stringWidth from 'string-width';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
}

/** Formats rows under titles, aligned, without trailing blanks. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const lines = [columns.map(({ title }) => title), ...rows];
  const widths = columns.map((_column, index) => Math.max(...lines.map((line) => stringWidth(line[index] ?? ''))));
  return lines
    .map((line) =>
      columns
        .map(({ align }, index) => {
          const cell = line[index] ?? '';
          const gap = ' '.repeat((widths[index] ?? 0) - stringWidth(cell));
          return align === 'right' ? gap + cell : cell + gap;
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
