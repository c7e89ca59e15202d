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

/** The error of a system call that fails. */
export class DiskError extends Error {
  readonly code: DiskErrorCode;
  constructor(code: DiskErrorCode, path: string) {
    super(`${code}: ${path}`);
    this.name = 'DiskError';
    this.code = code;
  }
}
