import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import ignore from 'ignore';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseIgnoreRules } from './ignore-rules.ts';

const hasGit = spawnSync('git', ['--version']).status === 0;

const names = [
  'a',
  'b',
  'ab',
  'ba',
  'aab',
  'a.b',
  'a-b',
  'a b',
  'a*b',
  'a[b',
  'a]',
  'a!',
  '-',
  '^',
  '\\',
  'é',
  '#a',
  'A',
];
const directories = ['a', 'b', 'ab', 'a/a', 'a/b', 'a/b/a', 'b/a', 'b/a/ab', 'ab/b', 'a/b/a/b'];
const files = ['', ...directories.map((directory) => `${directory}/`)].flatMap((directory) =>
  names.map((name) => `${directory}${name}`),
);
const entries = [
  ...directories.map((path) => ({ path, isDirectory: true })),
  ...files.filter((path) => !directories.includes(path)).map((path) => ({ path, isDirectory: false })),
];

/** A piece of a pattern. Pieces with a slash or stars are as frequent as they make patterns that match. */
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'ab', '-', '.') },
  { weight: 4, arbitrary: fc.constantFrom('/', '*', '?', '/**/', '**/', '/**') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '[ab]',
      '[!a]',
      '[^b]',
      '[a-b]',
      '[]a]',
      '[!]a]',
      '[a-]',
      '[-a]',
      '[[:alpha:]]',
      '[[:punct:]a]',
      '[![:lower:]]',
      '[[:nothing:]]',
      '[b-a]',
      '[\\]a]',
      '[a\\-b]',
      '[[:]',
      '[a/b]',
      '[--a]',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('\\a', '\\*', '\\[', '\\\\', '\\ ', ' ', '!', '#', '[', ']', 'é', 'A', '^', '\\/'),
  },
);
const line = fc
  .tuple(
    fc.constantFrom('', '', '', '!', '/', '!/'),
    fc.array(piece, { minLength: 1, maxLength: 6 }),
    fc.constantFrom('', '/'),
  )
  .map(([first, pieces, last]) => first + pieces.join('') + last)
  // git treats the rest after the plain beginning of a pattern as a pattern of its own: `a**/b` is `**/b` below a name that begins with a.
  // gitignore(5) says that such stars are plain ones, as wildmatch.c has them elsewhere.
  .filter((text) => !/[^/*]\*\*|\*\*[^/*]/.test(text));
const rules = fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n'));

const folderOf = (index: number): string => `rules-${index}`;
/** Each has rules of its own. */
const folders = Array.from({ length: 16 }, (_, index) => folderOf(index));

describe('[IG1] the rules are those of gitignore(5)', () => {
  let root = '';
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'lockstep-ignore-'));
    for (const folder of folders) {
      for (const directory of directories) mkdirSync(join(root, folder, directory), { recursive: true });
    }
    if (hasGit) execFileSync('git', ['init', '-q', root]);
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  /** Whether git ignores the entry at a path of a folder, with the text of each folder as its rules. One process answers for all of them. */
  function ignoredByGit(texts: readonly string[]): (index: number, path: string) => boolean {
    texts.forEach((text, index) => {
      writeFileSync(join(root, folderOf(index), '.gitignore'), text);
    });
    const asked = texts.flatMap((_, index) => entries.map(({ path }) => `${folderOf(index)}/${path}`));
    const args = [
      '-c',
      'core.excludesFile=',
      '-c',
      'core.ignoreCase=false',
      'check-ignore',
      '--no-index',
      '-z',
      '--stdin',
    ];
    const input = asked.map((path) => `${path}\0`).join('');
    const { stdout, status, stderr } = spawnSync('git', args, {
      cwd: root,
      input,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    expect(status, stderr).toBeLessThanOrEqual(1);
    const ignored = new Set(stdout.split('\0'));
    return (index, path) => ignored.has(`${folderOf(index)}/${path}`);
  }

  test.skipIf(!hasGit)('what git ignores is ignored, and nothing else, for generated rules and paths', () => {
    const several = fc.array(rules, { minLength: 1, maxLength: folders.length, size: 'max' });
    fc.assert(
      fc.property(several, (texts) => {
        const isIgnored = ignoredByGit(texts);
        texts.forEach((text, index) => {
          const parsed = parseIgnoreRules(text);
          // For git `?` and a bracket are one byte; here they are one character, as gitignore(5) says.
          const isByBytes = /[?[]/.test(text);
          const different = entries.filter(
            ({ path, isDirectory }) =>
              parsed.ignores(path, isDirectory) !== isIgnored(index, path) && !(isByBytes && path.includes('é')),
          );
          expect(different, text).toEqual([]);
        });
      }),
      { numRuns: Number(process.env.IGNORE_RUNS ?? 25) },
    );
  });

  test('the library that agents used before decides the same, for generated rules and paths', () => {
    // If the two differ, git agrees with this matcher: see the test above, which has all pieces.
    const plain = rules.filter((text) => !/[[\\é ]/.test(text));
    fc.assert(
      fc.property(plain, (text) => {
        const library = ignore({ ignorecase: false }).add(text);
        const parsed = parseIgnoreRules(text);
        const different = entries.filter(
          ({ path, isDirectory }) =>
            parsed.ignores(path, isDirectory) !== library.ignores(isDirectory ? `${path}/` : path),
        );
        expect(different).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

describe('[IG5] the time for an answer grows with pattern × path', () => {
  const deep = `${'a/'.repeat(1_000)}c`;
  test.each([
    ['chained **', `${'**/a/'.repeat(500)}b`, deep],
    ['** after **', `${'**/'.repeat(1_000)}b`, deep],
    ['many * in one name', `${'*a'.repeat(100)}b`, 'a'.repeat(255)],
    ['** within a name', `a${'**a'.repeat(80)}b`, 'a'.repeat(255)],
    ['a bracket after each *', `${'*[a-z]'.repeat(100)}0`, 'a'.repeat(255)],
    ['brackets that are never closed', '[[:'.repeat(300_000), 'a'],
    ['brackets that are closed at the end', `${'[[:'.repeat(300_000)}]`, 'a'],
    ['a name of a mebibyte', 'a'.repeat(1_048_576), 'a'],
    ['a class of a mebibyte', `[[:${'a'.repeat(1_048_000)}:]]`, 'a'],
  ])('%s', { timeout: 20_000 }, (_, pattern, path) => {
    // With regular expressions each of the first five takes longer than the universe is old.
    const parsed = parseIgnoreRules(pattern);
    expect(parsed.ignores(path, false)).toBe(false);
    expect(parsed.ignores(`${path}x`, false)).toBe(false);
  });
});
