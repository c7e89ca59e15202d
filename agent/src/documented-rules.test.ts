import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const ids = /\[([A-Z]+(?:-[A-Z])?\d+)\]/g;

function read(path: string): string {
  return readFileSync(`${root}${path}`, 'utf8');
}

function idsIn(text: string, pattern: RegExp): ReadonlySet<string> {
  return new Set([...text.matchAll(pattern)].map(([, id = '']) => id));
}

/** The rules of the documents, each at the beginning of a list item. */
function rules(): ReadonlySet<string> {
  return idsIn(read('docs/SPEC.md') + read('docs/DASHBOARD.md'), /^- \*\*\[([A-Z]+(?:-[A-Z])?\d+)\]\*\*/gm);
}

/** The rules that tests cite, in a title or a comment. */
function cited(): ReadonlySet<string> {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  const tests = files.split('\n').filter((file) => /\.(test|contract)\.tsx?$/.test(file));
  return idsIn(tests.map(read).join('\n'), ids);
}

test('each rule is cited by a test', () => {
  const [laidDown, tested] = [rules(), cited()];
  expect(laidDown.size).toBeGreaterThan(200);
  expect([...laidDown].filter((id) => !tested.has(id))).toEqual([]);
});

test('each rule that a test cites is in the documents', () => {
  const [laidDown, tested] = [rules(), cited()];
  expect([...tested].filter((id) => !laidDown.has(id))).toEqual([]);
});

test('each rule is one sentence', () => {
  const documents = read('docs/SPEC.md') + read('docs/DASHBOARD.md');
  // The lines of a rule, up to its list or the next one.
  const texts = [...documents.matchAll(/^- \*\*\[[A-Z]+(?:-[A-Z])?\d+\]\*\* .*(?:\n {2}(?!- )\S.*)*/gm)].map(
    ([text]) => text,
  );
  expect(texts.length).toBe(rules().size);
  expect(texts.filter((text) => /\.\s+[A-Z`]/.test(text))).toEqual([]);
});
