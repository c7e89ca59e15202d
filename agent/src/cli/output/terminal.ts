import { styleText } from 'node:util';

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
  /** Shows a line below all others until the next one replaces it, or until it is removed. Does nothing unless `isWatched`. */
  progress(text: string | undefined): void;
}

/** Removes the line in which the cursor is, and puts the cursor at its beginning. */
const eraseLine = '\r\u001B[K';

/** The columns of a terminal that does not say how wide it is. */
const columnsDefault = 80;

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const { stdout, stderr, env } = process;
  const isWatched = stderr.isTTY === true && env.TERM !== 'dumb';
  let shown: string | undefined;
  const below = (write: () => void): void => {
    if (shown !== undefined) stderr.write(eraseLine);
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
      // A line that wraps could not be erased.
      const line = text?.slice(0, (stderr.columns || columnsDefault) - 1);
      if (line === shown) return;
      if (shown !== undefined) stderr.write(eraseLine);
      shown = line;
      if (line !== undefined) stderr.write(line);
    },
  };
}

/** Prints `value` as JSON for scripts. */
export function printJson(terminal: Terminal, value: unknown): void {
  terminal.print(JSON.stringify(value, null, 2));
}
