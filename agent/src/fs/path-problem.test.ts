import { expect, test } from 'vitest';
import { errorCodeOf } from '../os/system-error.ts';
import { problemOf } from './path-problem.ts';

// FUSE programs for FAT and exFAT answer ENOSYS.
test.each(['EPERM', 'ENOSYS'])(
  '%s for a link on a file system without links is a problem that names the link',
  (code) => {
    const error = Object.assign(new Error(code), { code, syscall: 'symlink' });
    expect(problemOf(error, 'a/b')).toEqual({
      code: 'path-permission',
      detail: expect.stringMatching(
        /^a\/b is a symbolic link, and the file system of this folder allows none\. Remove the link/,
      ),
    });
  },
);

test.each(['rename', 'link', 'mkdir'])(
  '[MT47] a name that the file system refuses in %s(2) is a problem that says so',
  (syscall) => {
    const error = Object.assign(new Error('EINVAL'), { code: 'EINVAL', syscall });
    const { code, detail } = problemOf(error, 'a:b');
    expect(code).toBe('path-permission');
    expect(detail).toMatch(/^The file system of this folder does not allow the name of a:b: .* Rename it/);
  },
);

test.each([
  ['EACCES', "a/b cannot be read or written: give the agent's user permission for it and its directory."],
  ['EPERM', 'chattr -ia'],
  ['EROFS', 'mount it for writing'],
  ['EROFS', 'btrfs property set SUBVOLUME ro false'],
])('%s is a problem that says what helps', (code, helps) => {
  const { code: problem, detail } = problemOf(Object.assign(new Error(code), { code }), 'a/b');
  expect(problem).toBe('path-permission');
  expect(detail).toContain(helps);
});

test.each([
  [-122, 'EDQUOT', 'disk-full'],
  [-74, 'EBADMSG', 'path-io'],
  [-116, 'ESTALE', 'path-io'],
])('the system error %i, which Node has no name for, is %s', (number, name, problem) => {
  // The second is that of a call that is not synchronous.
  for (const parts of [{ code: `Unknown system error ${number}` }, { code: 'UNKNOWN', errno: number }]) {
    const error = Object.assign(new Error('it says'), parts);
    expect(errorCodeOf(error)).toBe(name);
    expect(problemOf(error, 'a/b').code).toBe(problem);
  }
});

test.each([
  ['EAGAIN', 'Another program has a lease on a/b'],
  ['EMFILE', 'raise the limit (ulimit -n'],
])('%s does not blame the disk', (code, says) => {
  const problem = problemOf(Object.assign(new Error(code), { code }), 'a/b');
  expect(problem).toMatchObject({ code: 'path-io', detail: expect.stringContaining(says) });
  expect(problem.detail).not.toContain('disk');
});
