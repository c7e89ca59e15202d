const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export type Colour = keyof typeof codes;

/** Paints words; the identity where the output is no terminal. */
export type Paint = (colour: Colour, text: string) => string;

/** Colour only on a terminal, and never against the reader's wish (https://no-color.org). */
export function paintFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Paint {
  const wanted = stream.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
  if (!wanted) return (_colour, text) => text;
  return (colour, text) => `\x1b[${codes[colour][0]}m${text}\x1b[${codes[colour][1]}m`;
}
