import { styleText } from 'node:util';
import stringWidth from 'string-width';

export type Colour = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Colours a text. The paint of a real terminal returns it unchanged if the output is no terminal, or colours are not wanted. */
export type Paint = (colour: Colour, text: string) => string;

/** The environment of a command and its output. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly paint: Paint;
  nowMs(): number;
  /** Prints one or more lines of the answer. */
  print(text: string): void;
  /** Prints one line for people that is not part of the answer. */
  note(text: string): void;
  /** True if the notes go to a terminal, so that a person watches. */
  readonly isWatched: boolean;
  /** Shows lines below all others until the next ones replace them, or until they are removed. Does nothing unless `isWatched`. */
  progress(text: string | undefined): void;
}

/** The size of a terminal that does not say how large it is. */
const columnsDefault = 80;
const rowsDefault = 24;

/** Removes `shown`, in whose last line the cursor is, and puts the cursor at its beginning. */
function erase(shown: string): string {
  const above = shown.split('\n').length - 1;
  return above === 0 ? '\r\u001B[K' : `\r\u001B[${above}A\u001B[J`;
}

/** The part of `text` that fits on a screen: a line that wraps, or leaves the screen at its top, could not be erased. */
export function fitted(text: string, columns: number, rows: number): string {
  const lines = text.split('\n').slice(0, rows - 1);
  return lines.map((line) => cut(line, columns - 1)).join('\n');
}

/** The beginning of a line that takes at most so many columns: some characters take two, and some several code points. */
function cut(line: string, columns: number): string {
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    if (stringWidth(kept + segment) > columns) break;
    kept += segment;
  }
  return kept;
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const { stdout, stderr, env } = process;
  const isWatched = stderr.isTTY === true && env.TERM !== 'dumb';
  let shown: string | undefined;
  const below = (write: () => void): void => {
    if (shown !== undefined) stderr.write(erase(shown));
    write();
    if (shown !== undefined) stderr.write(shown);
  };
  return {
    env,
    cwd: process.cwd(),
    paint: styleText,
    nowMs: () => Date.now(),
    print: (text) => below(() => stdout.write(`${text}\n`)),
    note: (text) => below(() => stderr.write(`${text}\n`)),
    isWatched,
    progress(text) {
      if (!isWatched) return;
      const next =
        text === undefined ? undefined : fitted(text, stderr.columns || columnsDefault, stderr.rows || rowsDefault);
      if (next === shown) return;
      if (shown !== undefined) stderr.write(erase(shown));
      shown = next;
      if (next !== undefined) stderr.write(next);
    },
  };
}

/** Prints `value` as JSON for scripts. */
export function printJson(terminal: Terminal, value: unknown): void {
  terminal.print(JSON.stringify(value, null, 2));
}
