import { expect, test } from 'vitest';
import { problemOf } from './path-problem.ts';

test.each([
  ['EACCES', "a/b cannot be read or written: give the agent's user permission."],
  ['EPERM', 'chattr -ia'],
  ['EROFS', 'mount it for writing'],
])('%s is a problem that says what helps', (code, helps) => {
  const { code: problem, detail } = problemOf(Object.assign(new Error(code), { code }), 'a/b');
  expect(problem).toBe('path-permission');
  expect(detail).toContain(helps);
});
