export type DiskErrorCode =
  | 'EACCES'
  | 'EBADF'
  | 'EBUSY'
  | 'EDQUOT'
  | 'EEXIST'
  | 'EINVAL'
  | 'EIO'
  | 'EISDIR'
  | 'ELOOP'
  | 'ENOENT'
  | 'ENOSPC'
  | 'ENOTDIR'
  | 'ENOTEMPTY'
  | 'ENXIO'
  | 'EPERM'
  | 'EXDEV';

/** The error of a system call that fails. It has no stack trace, as one of the kernel: a seed makes thousands, mostly of absent entries. */
export class DiskError extends Error {
  readonly code: DiskErrorCode;
  constructor(code: DiskErrorCode, path: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(`${code}: ${path}`);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'DiskError';
    this.code = code;
  }
}
