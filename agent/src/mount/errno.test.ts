import { expect, test } from 'vitest';
import { errnoOf, MountError } from './errno.ts';

test.each([
  [new MountError('ENOENT'), -2],
  [Object.assign(new Error('full'), { code: 'ENOSPC' }), -28],
  [Object.assign(new Error('of Node'), { code: 'ERR_INVALID_ARG_VALUE' }), -5],
  [new RangeError('a mistake'), -5],
  [undefined, -5],
])('[FM6] the number that a program gets for %s is %i', (error, number) => {
  expect(errnoOf(error)).toBe(number);
});
