import { nameBytesMax, nameOf, pathBytesMax, pathFault } from '@lockstep/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  conflictPath,
  copiesPrefix,
  isConflictPath,
  loserOf,
  lostStamp,
  ordinaryPath,
  originalPath,
} from './conflict-name.ts';

const hlc = Date.UTC(2026, 10, 21, 6, 56, 2, 7) * 1024;
const stamp = '20261121T065602007Z';

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

describe('[CF4] the name of a conflict copy', () => {
  const cases = [
    { name: 'extension', path: 'a/report.txt', copy: `a/report.conflict-${stamp}-bee.txt` },
    { name: 'no extension', path: 'Makefile', copy: `Makefile.conflict-${stamp}-bee` },
    { name: 'dotfile', path: '.bashrc', copy: `.bashrc.conflict-${stamp}-bee` },
    { name: 'dotfile with extension', path: '.eslintrc.json', copy: `.eslintrc.conflict-${stamp}-bee.json` },
    { name: 'two extensions', path: 'x.test.ts', copy: `x.test.conflict-${stamp}-bee.ts` },
    { name: 'tar.gz stays whole', path: 'a.tar.gz', copy: `a.conflict-${stamp}-bee.tar.gz` },
    { name: 'tar.zst after other dots', path: 'v1.2.tar.zst', copy: `v1.2.conflict-${stamp}-bee.tar.zst` },
    { name: 'a dotfile named .tar.gz', path: '.tar.gz', copy: `.tar.conflict-${stamp}-bee.gz` },
    { name: 'a dot at the end', path: 'end.', copy: `end..conflict-${stamp}-bee` },
    { name: 'only dots', path: '...', copy: `....conflict-${stamp}-bee` },
    { name: 'a sentence is no extension', path: 'Dr. Who and co', copy: `Dr. Who and co.conflict-${stamp}-bee` },
    { name: 'a dot in the directory only', path: 'v1.0/README', copy: `v1.0/README.conflict-${stamp}-bee` },
    { name: 'a newline', path: 'a\nb.txt', copy: `a\nb.conflict-${stamp}-bee.txt` },
    {
      name: 'an existing suffix is replaced',
      path: 'a/report.conflict-20250101T000000000Z-ant.txt',
      copy: `a/report.conflict-${stamp}-bee.txt`,
    },
    {
      name: 'stacked suffixes are replaced together',
      path: 'r.conflict-20250101T000000000Z-ant.conflict-20250102T000000000+12Z-cat.tar.gz',
      copy: `r.conflict-${stamp}-bee.tar.gz`,
    },
    {
      name: 'a similar text that is no suffix stays',
      path: 'a.conflict-soon.txt',
      copy: `a.conflict-soon.conflict-${stamp}-bee.txt`,
    },
    { name: 'nothing but a suffix', path: '.conflict-20250101T000000000Z-ant', copy: `.conflict-${stamp}-bee` },
  ];
  test.each(cases)('$name', ({ path, copy }) => {
    expect(conflictPath(path, hlc, 'bee')).toBe(copy);
  });

  const members = [
    { member: 'Anna’s Laptop', part: 'Anna’s-Laptop' },
    { member: '../../etc', part: 'etc' },
    { member: 'host.example.org', part: 'host-example-org' },
    { member: 'a/b\\c:d%e', part: 'a-b-c-d-e' },
    { member: '', part: 'member' },
    { member: ' . ', part: 'member' },
    { member: '蟻', part: '蟻' },
    { member: 'x'.repeat(100), part: 'x'.repeat(32) },
    { member: '🐜'.repeat(20), part: '🐜'.repeat(8) },
    { member: 'half \ud83d', part: 'half-\ufffd' },
  ];
  test.each(members)('the member $member is written $part', ({ member, part }) => {
    expect(conflictPath('f.txt', hlc, member)).toBe(`f.conflict-${stamp}-${part}.txt`);
  });

  test('two losers of one member in one millisecond have two names', () => {
    expect(conflictPath('f', hlc + 1, 'bee')).toBe('f.conflict-20261121T065602007+1Z-bee');
    expect(conflictPath('f', hlc + 1023, 'bee')).toBe('f.conflict-20261121T065602007+1023Z-bee');
  });

  test('a long name keeps its extension and loses whole characters of its stem', () => {
    const copy = conflictPath(`${'🐜'.repeat(62)}.tar.gz`, hlc, 'bee');
    expect(bytesOf(copy)).toBeLessThanOrEqual(nameBytesMax);
    expect(bytesOf(copy)).toBeGreaterThan(nameBytesMax - 4);
    expect(copy).toMatch(/^(🐜)+\.conflict-20261121T065602007Z-bee\.tar\.gz$/u);
  });

  test('in a directory whose path is nearly too long, the copy goes into one above', () => {
    const directory = `${`${'d'.repeat(250)}/`.repeat(12)}${'e'.repeat(50)}`;
    expect(bytesOf(`${directory}/f.txt`)).toBeLessThanOrEqual(pathBytesMax);
    const copy = conflictPath(`${directory}/f.txt`, hlc, 'bee');
    expect(pathFault(copy)).toBeUndefined();
    expect(copy).toBe(`${`${'d'.repeat(250)}/`.repeat(12)}f.conflict-${stamp}-bee.txt`);
  });

  const anyName = fc
    .string({
      unit: fc.oneof(
        fc.constantFrom('.', '-', 'a', '🐜', ' ', '\n', '.tar', '.conflict-'),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
      ),
      minLength: 1,
      maxLength: 255,
    })
    .filter((name) => pathFault(name) === undefined);
  const anyStamp = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

  test('it is a legal path, is recognised, and keeps its form when it conflicts again', () => {
    fc.assert(
      fc.property(
        anyName,
        anyStamp,
        fc.string({ unit: 'binary' }),
        anyStamp,
        fc.string(),
        (name, first, ant, second, bee) => {
          const copy = conflictPath(`dir/${name}`, first, ant);
          expect(pathFault(copy)).toBeUndefined();
          expect(isConflictPath(copy)).toBe(true);
          const again = conflictPath(copy, second, bee);
          expect(pathFault(again)).toBeUndefined();
          expect(nameOf(again).split('.conflict-').length).toBeLessThanOrEqual(nameOf(copy).split('.conflict-').length);
          expect(conflictPath(copy, first, ant)).toBe(copy);
        },
      ),
      { numRuns: 300 },
    );
  });
});

test('[CF4] ordinary names are not taken for conflict copies', () => {
  for (const path of [
    'a.txt',
    'conflict',
    'a.conflict-1.txt',
    `x.conflict-${stamp}-b/plain.txt`,
    `conflict-${stamp}-bee`,
  ]) {
    expect(isConflictPath(path), path).toBe(false);
  }
});

test('[CF4] the original of a copy, and the prefix of the copies of a path', () => {
  for (const path of ['a/report.txt', 'Makefile', '.bashrc', 'a.b/c.tar.gz', 'a\nb.txt', 'end.', '🐜/ö.md']) {
    const copy = conflictPath(path, hlc, 'bee');
    expect(originalPath(copy)).toBe(path);
    expect(copy.startsWith(copiesPrefix(path)), path).toBe(true);
  }
  expect(originalPath('a/plain.txt')).toBe('a/plain.txt');
});

describe('[CF8] the parts of the name of a conflict copy', () => {
  test.each([
    ['a/report.txt', 'a/report (from bee).txt', 'a/report (from bee 2).txt'],
    ['Makefile', 'Makefile (from bee)', 'Makefile (from bee 2)'],
    ['a.tar.gz', 'a (from bee).tar.gz', 'a (from bee 2).tar.gz'],
  ])('%s', (path, first, second) => {
    const copy = conflictPath(path, hlc, 'bee');
    expect([originalPath(copy), loserOf(copy), lostStamp(copy)]).toEqual([path, 'bee', hlc]);
    expect(lostStamp(conflictPath(path, hlc + 17, 'bee'))).toBe(hlc + 17);
    expect([ordinaryPath(copy, 1), ordinaryPath(copy, 2)]).toEqual([first, second]);
  });

  test('a date that does not exist counts as 0', () => {
    expect(lostStamp('x.conflict-20269921T065602007Z-bee')).toBe(0);
  });

  test('an ordinary name is legal wherever the copy is', () => {
    const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(name, name, (stem, member) => {
        const copy = conflictPath(stem, hlc, member);
        if (pathFault(copy) !== undefined) return;
        expect(pathFault(ordinaryPath(copy, 99))).toBeUndefined();
        expect(isConflictPath(ordinaryPath(copy, 99))).toBe(false);
      }),
    );
  });
});
