import type { DiffPart, LineEnding } from './text-diff.ts';

/** The lines to take where two versions differ; both of them in this order. */
export type Pick = 'left' | 'right' | 'left-right' | 'right-left';

/** One line of the result. */
export interface ResultLine {
  readonly text: string;
  readonly ending: LineEnding;
  /** The version that it is from. */
  readonly from: 'left' | 'right' | 'both';
}

/** The picks, by the number of the place, from 0. A place without one keeps the lines of the left version. */
export type Picks = ReadonlyMap<number, Pick>;

/** The lines that the result will have. */
export function resultLines(parts: readonly DiffPart[], picks: Picks): readonly ResultLine[] {
  const lines: ResultLine[] = [];
  const usual = usualEnding(parts);
  let place = 0;
  for (const part of parts) {
    if (part.kind === 'same') {
      lines.push(...part.left.map(({ text, ending }) => ({ text, ending, from: 'both' as const })));
      continue;
    }
    const pick = picks.get(place++) ?? 'left';
    for (const side of pick.split('-') as readonly ('left' | 'right')[]) {
      lines.push(...part[side].map(({ text, ending }) => ({ text, ending, from: side })));
    }
  }
  // Only the last line may end without a line break: another one would be joined with the line after it.
  return lines.map((line, index) =>
    line.ending === '' && index < lines.length - 1 ? { ...line, ending: usual } : line,
  );
}

/** The bytes of the result. Lines that are in a version are in it exactly as they are there. */
export function resultBytes(lines: readonly ResultLine[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(lines.map(({ text, ending }) => text + ending).join(''));
}

/** The line break that most lines of both versions have. */
function usualEnding(parts: readonly DiffPart[]): LineEnding {
  let surplus = 0;
  for (const { left, right } of parts) {
    for (const { ending } of [...left, ...right]) {
      if (ending !== '') surplus += ending === '\r\n' ? 1 : -1;
    }
  }
  return surplus > 0 ? '\r\n' : '\n';
}
