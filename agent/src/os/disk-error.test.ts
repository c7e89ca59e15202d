import { expect, test } from 'vitest';
import { diskError } from './disk-error.ts';

test('an error of a disk becomes a sentence that says what to do, and no other error does', () => {
  const failed = Object.assign(new Error('EIO: i/o error, open'), { code: 'EIO', path: '/data/a' });
  const sentence = '/data/a cannot be read or written because of its disk (EIO). Check that the disk is connected';
  expect(diskError(failed)?.message).toContain(sentence);
  expect(diskError(Object.assign(new Error('EIO'), { code: 'EIO' }), '/data/a')?.message).toContain(sentence);
  // A socket may time out as well.
  expect(diskError(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' }))).toBeUndefined();
  expect(diskError(Object.assign(new Error('no such file'), { code: 'ENOENT', path: '/data/a' }))).toBeUndefined();
  expect(diskError('EIO')).toBeUndefined();
});
