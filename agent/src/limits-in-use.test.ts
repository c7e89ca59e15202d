import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The sources of the program and the page, without tests. */
const sources = ['agent', 'shared', 'dashboard'].flatMap((workspace) =>
  readdirSync(join(root, workspace, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !/\.(test|contract)\.ts$/.test(path))
    .map((path) => join(root, workspace, 'src', path)),
);

const files = sources.filter((path) => /\/limits\.ts$/.test(path));

/** The source without its comments: those that begin a line, and those at the end of one. */
function codeOf(source: string): string {
  return source.replaceAll(/^[ \t]*\{?\/\*[\s\S]*?\*\/|(?:^|\s)\/\/ .*/gm, '');
}

test('a mention in a comment is no use', () => {
  const source =
    "/** See aMax. */\nconst url = 'http://bMax/*'; // cMax\n  // dMax\nuse(eMax); /* no line of its own */";
  expect(codeOf(source).match(/\w+Max/g)).toEqual(['bMax', 'eMax']);
});

test('every limit is enforced somewhere', () => {
  const text = sources.map((path) => codeOf(readFileSync(path, 'utf8'))).join('\n');
  const limits = new Set(
    files.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/^export const (\w+)/gm)].map(([, name = '']) => name),
    ),
  );
  expect(limits.size).toBeGreaterThan(50);
  const uses = (name: string) => text.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0;
  // The first use is the definition.
  expect([...limits].filter((name) => uses(name) < 2)).toEqual([]);
});
