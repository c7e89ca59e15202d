import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseIgnoreRules } from './ignore-rules.ts';

describe('[IG1] gitignore rules', () => {
  const cases: readonly { name: string; rules: string; path: string; directory?: boolean; ignored: boolean }[] = [
    { name: 'no rules', rules: '', path: 'a', ignored: false },
    { name: 'comment and blank lines', rules: '# a\n\n   \n', path: '# a', ignored: false },
    { name: 'an escaped hash', rules: '\\#a', path: '#a', ignored: true },
    { name: 'a name at any depth', rules: '*.log', path: 'x/y/a.log', ignored: true },
    { name: 'another ending', rules: '*.log', path: 'x/y/a.login', ignored: false },
    { name: 'an anchored name at the top', rules: '/build', path: 'build', ignored: true },
    { name: 'an anchored name further down', rules: '/build', path: 'x/build', ignored: false },
    { name: 'a directory rule and a directory', rules: 'tmp/', path: 'tmp', directory: true, ignored: true },
    { name: 'a directory rule and a file', rules: 'tmp/', path: 'tmp', ignored: false },
    { name: 'a file below an ignored directory', rules: 'node_modules/', path: 'a/node_modules/b/c.js', ignored: true },
    {
      name: 'a directory below an ignored directory',
      rules: 'node_modules/',
      path: 'node_modules/b',
      directory: true,
      ignored: true,
    },
    { name: 'a later exception wins', rules: '*.log\n!keep.log', path: 'x/keep.log', ignored: false },
    { name: 'no exception below an ignored directory', rules: 'out/\n!out/keep', path: 'out/keep', ignored: true },
    {
      name: 'an exception where only the contents are ignored',
      rules: 'out/*\n!out/keep',
      path: 'out/keep',
      ignored: false,
    },
    { name: 'two stars', rules: 'a/**/z', path: 'a/b/c/z', ignored: true },
    { name: 'two stars at the end leave the directory', rules: 'a/**', path: 'a', directory: true, ignored: false },
    { name: 'a name in another case', rules: 'README', path: 'readme', ignored: false },
    { name: 'a bracket', rules: '[ab].txt', path: 'b.txt', ignored: true },
    { name: 'a quoted bracket', rules: '\\[a', path: '[a', ignored: true },
    { name: 'Windows line ends', rules: 'a\r\nb\r\n', path: 'b', ignored: true },
    { name: 'a byte order mark', rules: '\ufeffa', path: 'a', ignored: true },
    { name: 'spaces at the end are not part of the pattern', rules: 'a  ', path: 'a', ignored: true },
    { name: 'a quoted space is part of the pattern', rules: 'a\\ ', path: 'a ', ignored: true },
    { name: 'a name with a newline', rules: '*.tmp', path: 'a\nb.tmp', ignored: true },
    { name: 'a name with a backslash', rules: 'a\\\\b', path: 'a\\b', ignored: true },
    { name: 'a name that begins with two dots', rules: '..a', path: '..a', ignored: true },
    { name: 'emoji', rules: '🐜*', path: '🐜.txt', ignored: true },
    { name: 'a name that is also a property of objects', rules: 'x', path: '__proto__/constructor', ignored: false },
    { name: 'the folder itself', rules: '*', path: '', directory: true, ignored: false },
  ];
  test.each(cases)('$name', ({ rules, path, directory, ignored }) => {
    expect(parseIgnoreRules(rules).ignores(path, directory ?? false)).toBe(ignored);
  });

  test('[IG2] the rules never ignore their own file, at the top of the folder', () => {
    const rules = parseIgnoreRules('*\n.lockstepignore\n');
    expect(rules.ignores('.lockstepignore', false)).toBe(false);
    expect(rules.ignores('sub/.lockstepignore', false)).toBe(true);
  });

  test('[IG2] [WT7] state directories are always ignored, at any depth', () => {
    for (const text of ['', '!.lockstep\n!.lockstep/**\n!**/.lockstep/**\n']) {
      const rules = parseIgnoreRules(text);
      expect(rules.ignores('.lockstep', true)).toBe(true);
      expect(rules.ignores('.lockstep/journal.db', false)).toBe(true);
      expect(rules.ignores('a/b/.lockstep', true)).toBe(true);
      expect(rules.ignores('a/.lockstep/identity.key', false)).toBe(true);
      for (const path of ['.lockstepper', 'a/.lockstepper', 'a/x.lockstep', 'a/.lockstepignore'])
        expect(rules.ignores(path, false), path).toBe(false);
    }
  });

  test('the answers stay the same when the cache is cleared', () => {
    const rules = parseIgnoreRules('*.log\ncache/\n');
    for (let index = 0; index < 20_000; index++) {
      expect(rules.ignores(`d${index}/f.log`, false)).toBe(true);
      expect(rules.ignores(`d${index}/f.txt`, false)).toBe(false);
    }
    expect(rules.ignores('x/cache/y', false)).toBe(true);
  });
});

describe('[IG3] a bad line is reported with its number and the others hold', () => {
  const cases = [
    { name: 'a lone exclamation mark', bad: '!' },
    { name: 'a lone slash', bad: '/' },
    { name: 'a backslash at the end', bad: 'a\\' },
    { name: 'an open bracket', bad: 'a[bc' },
  ];
  test.each(cases)('$name', ({ bad }) => {
    const rules = parseIgnoreRules(`*.log\n\n${bad}\n*.tmp\n`);
    expect(rules.problems).toEqual([{ line: 3, text: bad, detail: expect.stringMatching(/^[A-Z].+\.$/) }]);
    expect(rules.ignores('x.log', false)).toBe(true);
    expect(rules.ignores('x.tmp', false)).toBe(true);
    expect(rules.ignores('abc', false)).toBe(false);
  });

  test.each(['a\\\\', 'a\\ ', '[]]', '\\[', '[!a]', '!x', 'a]'])('%j is a good line', (line) => {
    expect(parseIgnoreRules(line).problems).toEqual([]);
  });

  test('it throws for no text and no path', () => {
    const anyPath = fc
      .array(
        fc.string({ unit: 'grapheme', minLength: 1 }).filter((name) => !/^\.{1,2}$|\//.test(name)),
        { minLength: 1 },
      )
      .map((names) => names.join('/'));
    const anyText = fc.string({
      unit: fc.constantFrom('a', '*', '/', '[', ']', '!', '\\', ' ', '\n', '-', '^', ':', '{', '(', '?', '\r', '+'),
    });
    fc.assert(
      fc.property(anyText, anyPath, fc.boolean(), (text, path, isDirectory) => {
        expect(typeof parseIgnoreRules(text).ignores(path, isDirectory)).toBe('boolean');
      }),
      { numRuns: 500 },
    );
  });
});
