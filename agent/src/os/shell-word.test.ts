import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { shellWord } from './shell-word.ts';

test('[CL5] a plain path stays as it is', () => {
  expect(shellWord('/srv/shared-1.0/@x')).toBe('/srv/shared-1.0/@x');
});

test.each(['/home/alice/my shared', "it's", '$HOME', '~/a', 'a;b', '*', '', '"q"', 'two\nlines', '\\'])(
  '[CL5] a shell reads %j as one word',
  (text) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(text);
  },
);
