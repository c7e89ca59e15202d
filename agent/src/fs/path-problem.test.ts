import { expect, test } from 'vitest';
import { problemOf } from './path-problem.ts';

test('a link on a file system without links is a problem that names the link', () => {
  const error = Object.assign(new Error('EPERM'), { code: 'EPERM', syscall: 'symlink' });
  expect(problemOf(error, 'a/b')).toEqual({
    code: 'path-permission',
    detail: expect.stringMatching(
      /^a\/b is a symbolic link, and the file system of this folder allows none\. Remove the link/,
    ),
  });
});

test.each([
  ['EACCES', "a/b cannot be read or written: give the agent's user permission."],
  ['EPERM', 'chattr -ia'],
  ['EROFS', 'mount it for writing'],
])('%s is a problem that says what helps', (code, helps) => {
  const { code: problem, detail } = problemOf(Object.assign(new Error(code), { code }), 'a/b');
  expect(problem).toBe('path-permission');
  expect(detail).toContain(helps);
});
