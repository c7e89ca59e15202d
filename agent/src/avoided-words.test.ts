import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const sentenceWordsMax = 25;

/** The words of the list in CONTRIBUTING.md that have no other use here; `beside-large` is a name. */
const avoided = [
  ...['anew', 'whoever', 'whomever', 'nobody', 'somebody', 'anybody', 'beside(?!-large)'],
  ...['told of', 'tells? of', 'for ever', 'in vain', 'by itself', 'again and again'],
  ...['what stands there', '(?:is|are|was|were|been|had|has) looked (?:at|for)', 'a look(?!-)', 'whom it concerns'],
];
const pattern = new RegExp(`\\b(?:${avoided.join('|')})\\b`, 'i');

/** All documents but the one with the list, and the sources without tests: the tests run programs as the user `nobody`. */
function texts(): readonly string[] {
  const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' });
  return files
    .split('\n')
    .filter((path) => /\.md$|^(agent|shared|dashboard)\/src\/.*\.tsx?$/.test(path))
    .filter((path) => path !== 'CONTRIBUTING.md' && !/\.(test|contract)\.tsx?$/.test(path));
}

/** The text of each comment that fills lines of its own. */
function commentsOf(source: string): readonly string[] {
  const comments = source.match(/^[ \t]*\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n)+/gm) ?? [];
  return comments.map((comment) =>
    comment.replaceAll(/^[ \t]*(?:\/\*\*?|\*\/|\*|\/\/)[ \t]?|\s*\*\/$/gm, '').replaceAll('\n', ' '),
  );
}

test('the documents and sources use none of the words to avoid', () => {
  const found = texts().flatMap((path) =>
    readFileSync(`${root}${path}`, 'utf8')
      // A comment may break a line between two words.
      .replaceAll(/\n\s*(?:\*|\/\/)? ?/g, ' ')
      .split(/(?<=[.;:])\s/)
      .filter((sentence) => pattern.test(sentence))
      .map((sentence) => `${path}: ${pattern.exec(sentence)?.[0]} in ${sentence.slice(0, 160)}`),
  );
  expect(texts().length).toBeGreaterThan(500);
  expect(found).toEqual([]);
});

/** All comments of sources and tests. */
function allComments(): readonly { readonly path: string; readonly comment: string }[] {
  const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx', '*.mjs'], { cwd: root, encoding: 'utf8' });
  return files
    .split('\n')
    .filter((path) => path !== '')
    .flatMap((path) => commentsOf(readFileSync(`${root}${path}`, 'utf8')).map((comment) => ({ path, comment })));
}

/** The number of words of a sentence; a span of code or a link counts as one. */
function countWords(sentence: string): number {
  const words = sentence.replaceAll(/`[^`]*`|https?:\S+/g, 'code').split(/\s+/);
  return words.filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

test.each([
  ['', 0],
  ['A – [CT20] member', 3],
  ['See `npm run sim -- --seed 1` and https://example.org/a.', 4],
])('%s has %i words', (sentence, count) => {
  expect(countWords(sentence)).toBe(count);
});

test('a sentence of a comment has at most 25 words', () => {
  const found = allComments().flatMap(({ path, comment }) =>
    comment
      // A colon or semicolon ends it too, and so does the next point of a list.
      .split(/(?<=[.!?:;][)"]?) +| {2,}| (?=- |@)/)
      .filter((sentence) => countWords(sentence) > sentenceWordsMax)
      .map((sentence) => `${path}: ${countWords(sentence)} words: ${sentence}`),
  );
  expect(found).toEqual([]);
});

test('no sentence of a comment begins with a relative clause', () => {
  const relative = /(?:^|[.:;] )(?:What|Who|Whoever|Whom|Which|Where) .{0,80}/;
  const found = allComments().flatMap(
    ({ path, comment }) => relative.exec(comment)?.map((sentence) => `${path}: ${sentence}`) ?? [],
  );
  expect(found).toEqual([]);
});
