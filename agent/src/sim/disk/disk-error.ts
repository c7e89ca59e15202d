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

/** What a system call answers when it cannot. */
export class DiskError extends Error {
  readonly code: DiskErrorCode;
  constructor(code: DiskErrorCode, path: string) {
    super(`${code}: ${path}`);
    this.name = 'DiskError';
    this.code = code;
  }
}
