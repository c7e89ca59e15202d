import { diffLines } from 'diff';

/** One line of a version, with its number from 1. */
export interface DiffLine {
  readonly number: number;
  readonly text: string;
}

/** A row of two versions side by side, or a gap: omitted lines that are the same in both. */
export type DiffRow =
  | { readonly kind: 'same'; readonly left: DiffLine; readonly right: DiffLine }
  | { readonly kind: 'changed'; readonly left: DiffLine | undefined; readonly right: DiffLine | undefined }
  | { readonly kind: 'gap'; readonly lines: number };

/** Identical lines that are shown before and after a change. */
const contextLines = 3;

/** Texts with more edits than this are not worth reading line by line, and comparing them would block the page. */
const editsMax = 4_000;
const comparingMsMax = 500;

/** The rows that show how `right` differs from `left`; undefined if they differ too much to compare. */
export function diffRows(left: string, right: string): readonly DiffRow[] | undefined {
  const parts = diffLines(left, right, { maxEditLength: editsMax, timeout: comparingMsMax });
  if (parts === undefined) return undefined;
  const rows: DiffRow[] = [];
  let [leftNumber, rightNumber] = [1, 1];
  let removed: DiffLine[] = [];
  const flush = (added: readonly DiffLine[]): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index++) {
      rows.push({ kind: 'changed', left: removed[index], right: added[index] });
    }
    removed = [];
  };
  for (const part of parts) {
    const lines = linesOf(part.value);
    if (part.removed) {
      removed = lines.map((text) => ({ number: leftNumber++, text }));
    } else if (part.added) {
      flush(lines.map((text) => ({ number: rightNumber++, text })));
    } else {
      flush([]);
      for (const text of lines) {
        rows.push({ kind: 'same', left: { number: leftNumber++, text }, right: { number: rightNumber++, text } });
      }
    }
  }
  flush([]);
  return withoutLongRuns(rows);
}

/** True if two texts differ only invisibly: in their line endings, or in a line break at the end. */
export function differInEndingsOnly(left: string, right: string): boolean {
  const plain = (text: string): string => text.replaceAll('\r\n', '\n').replace(/\n$/, '');
  return left !== right && plain(left) === plain(right);
}

/** The lines of a text; nothing after a final line break counts as a line. */
function linesOf(text: string): readonly string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Replaces identical rows further than `contextLines` from any change by gaps. */
function withoutLongRuns(rows: readonly DiffRow[]): readonly DiffRow[] {
  const kept: DiffRow[] = [];
  for (let start = 0; start < rows.length; ) {
    let end = start;
    while (end < rows.length && rows[end]?.kind === 'same') end++;
    const before = start === 0 ? 0 : contextLines;
    const after = end === rows.length ? 0 : contextLines;
    const left = end - start - before - after;
    // A gap of one line would take as much room as the line.
    if (left > 1) {
      kept.push(...rows.slice(start, start + before), { kind: 'gap', lines: left }, ...rows.slice(end - after, end));
    } else kept.push(...rows.slice(start, end));
    while (end < rows.length && rows[end]?.kind === 'changed') kept.push(...rows.slice(end, ++end));
    start = end;
  }
  return kept;
}
