import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const parametersMax = 3;

/** The number of parameters in the list that begins `source`, after its opening parenthesis. */
function countParameters(source: string): number {
  let depth = 0;
  let commas = 0;
  let isEmpty = true;
  // An arrow is no closing bracket. A comma before the closing parenthesis adds no parameter.
  for (const [token] of source.matchAll(/=>|,\s*(?=\))|[()[\]{}<>,]|[^\s()[\]{}<>,=]+/g)) {
    if (token === ')' && depth === 0) return isEmpty ? 0 : commas + 1;
    isEmpty = false;
    if (token === ',' && depth === 0) commas++;
    if (/^[([{<]$/.test(token)) depth++;
    if (/^[)\]}>]$/.test(token)) depth--;
  }
  throw new Error(`No end of a list of parameters: ${source.slice(0, 80)}`);
}

/** The constructors in a source, each with the number of its parameters. */
function constructorsOf(source: string): readonly number[] {
  return [...source.matchAll(/^ *(?:(?:private|protected|public) )?constructor\(/gm)].map(({ index, 0: { length } }) =>
    countParameters(source.slice(index + length)),
  );
}

test.each([
  ['constructor() {}', 0],
  ['constructor(a: A) {}', 1],
  ['constructor(a: Map<string, A>, { b, c }: B) {}', 2],
  ['  private constructor(\n    a: A,\n    b: (c: C, d: D) => E,\n    f = new F(1, 2),\n  ) {}', 3],
])('%s has %i parameters', (source, count) => {
  expect(constructorsOf(source)).toEqual([count]);
});

test('a constructor takes at most three positional parameters', () => {
  const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx'], { cwd: root, encoding: 'utf8' });
  const counts = files
    .split('\n')
    .filter((path) => path !== '')
    .map((path) => [path, Math.max(0, ...constructorsOf(readFileSync(`${root}${path}`, 'utf8')))] as const);
  expect(counts.filter(([, count]) => count > 0).length).toBeGreaterThan(100);
  expect(counts.filter(([, count]) => count > parametersMax)).toEqual([]);
});
