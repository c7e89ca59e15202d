import { expect, test } from 'vitest';
import { unreadableFile } from './unreadable-file.ts';

test.each([
  ['EACCES', 'a/file cannot be read (EACCES). Give this user the right to read it, or run as its owner.'],
  ['EISDIR', 'a/file is a directory, and Lockstep needs a file there. Move it away and try again.'],
  ['ENXIO', 'a/file is not a regular file, and Lockstep needs one there. Move it away and try again.'],
  ['EIO', 'a/file cannot be read (EIO). Check the disk.'],
])('%s', (code, said) => {
  expect(unreadableFile('a/file', code)).toBe(said);
});
