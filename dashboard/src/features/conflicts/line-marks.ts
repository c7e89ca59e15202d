import { diffWordsWithSpace } from 'diff';
import type { DiffRow } from './text-diff.ts';

/** A piece of a line. `only`: the other version of the line does not have it. */
export interface LinePiece {
  readonly text: string;
  readonly only: boolean;
}

/** A line as it is shown. `before` and `after`: the number of characters that are left out there. */
export interface ShownLine {
  readonly pieces: readonly LinePiece[];
  readonly before: number;
  readonly after: number;
}

export interface ShownPair {
  readonly left: ShownLine;
  readonly right: ShownLine;
}

/** The most characters of a line that are shown, and those before the first difference among them. */
const shownCharacters = 1_000;
const leadCharacters = 80;

/** Words of longer lines are not compared: a minified file is one line. */
const comparedCharacters = 4_000;
const editsMax = 200;

/** The time for the words of a whole comparison; those of one line are bounded by their edits. */
const allMsMax = 300;

/** If less than this part of the longer line is in both, marks would cover nearly everything and say nothing. */
const sameShareMin = 0.3;

/**
 * The pairs of changed lines, each with the words that differ marked, by the index of the row. `unmarked`: pairs whose words were not
 * compared, because they are long or because it would take too long.
 */
export function markLines(
  rows: readonly DiffRow[],
  nowMs: () => number,
): { readonly pairs: ReadonlyMap<number, ShownPair>; readonly unmarked: number } {
  const pairs = new Map<number, ShownPair>();
  const endMs = nowMs() + allMsMax;
  let unmarked = 0;
  for (const [index, row] of rows.entries()) {
    if (row.kind !== 'changed' || row.left === undefined || row.right === undefined) continue;
    const [left, right] = [row.left.text, row.right.text];
    if (left.length > comparedCharacters || right.length > comparedCharacters || nowMs() > endMs) unmarked++;
    else {
      const pair = markWords(left, right);
      if (pair !== undefined) pairs.set(index, pair);
    }
  }
  return { pairs, unmarked };
}

/** The words in which two versions of a line differ; undefined if they have too little in common. */
export function markWords(left: string, right: string): ShownPair | undefined {
  const parts = diffWordsWithSpace(left, right, { maxEditLength: editsMax });
  if (parts === undefined) return undefined;
  const common = parts.filter(({ added, removed }) => !added && !removed);
  const same = common.reduce((sum, { value }) => sum + value.trim().length, 0);
  if (same < sameShareMin * Math.max(left.length, right.length)) return undefined;
  const side = (without: 'added' | 'removed'): ShownLine => {
    const pieces = parts.flatMap((part) =>
      part[without] ? [] : [{ text: part.value, only: part.added || part.removed }],
    );
    return windowOf(pieces, pieces.findIndex(({ only }) => only) > 0 ? (pieces[0]?.text.length ?? 0) : 0);
  };
  return { left: side('added'), right: side('removed') };
}

/** A line without marks; of a long one, the part around the first character that differs from `other`. */
export function plainLine(text: string, other: string | undefined): ShownLine {
  const first = other === undefined || text.length <= shownCharacters ? 0 : firstDifference(text, other);
  return windowOf([{ text, only: false }], first);
}

/** The part of a line that is shown: all of it, or some characters around the one at `first`. */
function windowOf(pieces: readonly LinePiece[], first: number): ShownLine {
  const length = pieces.reduce((sum, { text }) => sum + text.length, 0);
  if (length <= shownCharacters) return { pieces, before: 0, after: 0 };
  const start = Math.max(0, Math.min(first - leadCharacters, length - shownCharacters));
  const end = start + shownCharacters;
  const shown: LinePiece[] = [];
  let at = 0;
  for (const { text, only } of pieces) {
    const part = text.slice(Math.max(0, start - at), Math.max(0, end - at));
    if (part !== '') shown.push({ text: part, only });
    at += text.length;
  }
  return { pieces: shown, before: start, after: length - end };
}

function firstDifference(text: string, other: string): number {
  const length = Math.min(text.length, other.length);
  for (let index = 0; index < length; index++) if (text[index] !== other[index]) return index;
  return length;
}
