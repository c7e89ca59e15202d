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
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  return {
    env: process.env,
    cwd: process.cwd(),
    paint: styleText,
    nowMs: () => Date.now(),
    print: (text) => process.stdout.write(`${text}\n`),
    note: (text) => process.stderr.write(`${text}\n`),
  };
}

/** Prints `value` as JSON for scripts. */
export function printJson(terminal: Terminal, value: unknown): void {
  terminal.print(JSON.stringify(value, null, 2));
}
