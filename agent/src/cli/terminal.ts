import { styleText } from 'node:util';

export type Colour = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Paints words. That of a real terminal leaves them as they are where the output is none, or where no colours are wanted. */
export type Paint = (colour: Colour, text: string) => string;

/** Where a command reads its surroundings and writes its answers. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly paint: Paint;
  nowMs(): number;
  /** One line, or several, of the answer. */
  print(text: string): void;
  /** One line for people that is no part of the answer. */
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
