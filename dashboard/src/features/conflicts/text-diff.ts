import { diffLines } from 'diff';

/** How a line ends: with a line break, or with the text. */
export type LineEnding = '\n' | '\r\n' | '';

/** One line of a version, with its number from 1. */
export interface DiffLine {
  readonly number: number;
  readonly text: string;
  readonly ending: LineEnding;
}

/** A part of two texts: lines that are the same in both, or a place at which they differ. */
export type DiffPart =
  | { readonly kind: 'same'; readonly left: readonly DiffLine[]; readonly right: readonly DiffLine[] }
  | { readonly kind: 'changed'; readonly left: readonly DiffLine[]; readonly right: readonly DiffLine[] };

/** A row of two versions side by side, or a gap: omitted lines that are the same in both. */
export type DiffRow =
  | { readonly kind: 'same'; readonly left: DiffLine; readonly right: DiffLine }
  | {
      readonly kind: 'changed';
      readonly left: DiffLine | undefined;
      readonly right: DiffLine | undefined;
      /** The number of the place, from 0, on its first row. */
      readonly place: number | undefined;
    }
  | { readonly kind: 'gap'; readonly lines: number };

/** Identical lines that are shown before and after a change. */
const contextLines = 3;

/** Texts with more edits than this are not worth reading line by line, and comparing them would block the page. */
const editsMax = 4_000;
const comparingMsMax = 500;

/** The parts of two texts in their order; undefined if they differ too much to compare. */
export function diffParts(left: string, right: string): readonly DiffPart[] | undefined {
  const found = diffLines(left, right, { maxEditLength: editsMax, timeout: comparingMsMax });
  if (found === undefined) return undefined;
  const parts: DiffPart[] = [];
  const next = { left: 1, right: 1 };
  const lines = (value: string, side: 'left' | 'right'): readonly DiffLine[] => {
    const made = linesOf(value, next[side]);
    next[side] += made.length;
    return made;
  };
  let removed: readonly DiffLine[] = [];
  const flush = (added: readonly DiffLine[]): void => {
    if (removed.length + added.length > 0) parts.push({ kind: 'changed', left: removed, right: added });
    removed = [];
  };
  for (const part of found) {
    if (part.removed) removed = lines(part.value, 'left');
    else if (part.added) flush(lines(part.value, 'right'));
    else {
      flush([]);
      parts.push({ kind: 'same', left: lines(part.value, 'left'), right: lines(part.value, 'right') });
    }
  }
  flush([]);
  return parts;
}

/** The rows that show how two texts differ. */
export function diffRows(parts: readonly DiffPart[]): readonly DiffRow[] {
  const rows: DiffRow[] = [];
  let places = 0;
  for (const [index, { kind, left, right }] of parts.entries()) {
    if (kind === 'same') {
      rows.push(...sameRows(left, right, { isFirst: index === 0, isLast: index === parts.length - 1 }));
      continue;
    }
    for (let row = 0; row < Math.max(left.length, right.length); row++) {
      rows.push({ kind, left: left[row], right: right[row], place: row === 0 ? places++ : undefined });
    }
  }
  return rows;
}

/** True if two texts differ only invisibly: in their line endings, or in a line break at the end. */
export function differInEndingsOnly(left: string, right: string): boolean {
  const plain = (text: string): string => text.replaceAll('\r\n', '\n').replace(/\n$/, '');
  return left !== right && plain(left) === plain(right);
}

/** The lines of a text; nothing after a final line break counts as a line. */
function linesOf(text: string, first: number): readonly DiffLine[] {
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  const made = lines.map((line, index): DiffLine => {
    const isPlain = !line.endsWith('\r');
    return { number: first + index, text: isPlain ? line : line.slice(0, -1), ending: isPlain ? '\n' : '\r\n' };
  });
  if (last !== '') made.push({ number: first + made.length, text: last, ending: '' });
  return made;
}

/** Identical rows; those further than `contextLines` from a change are a gap. */
function sameRows(
  left: readonly DiffLine[],
  right: readonly DiffLine[],
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
): readonly DiffRow[] {
  const row = (index: number): readonly DiffRow[] => {
    const [one, other] = [left[index], right[index]];
    return one && other ? [{ kind: 'same', left: one, right: other }] : [];
  };
  const rows = (from: number, to: number): readonly DiffRow[] =>
    Array.from({ length: to - from }, (_, index) => from + index).flatMap(row);
  const before = isFirst ? 0 : contextLines;
  const after = isLast ? 0 : contextLines;
  const omitted = left.length - before - after;
  // A gap of one line would take as much room as the line.
  if (omitted <= 1) return rows(0, left.length);
  return [...rows(0, before), { kind: 'gap', lines: omitted }, ...rows(left.length - after, left.length)];
}
