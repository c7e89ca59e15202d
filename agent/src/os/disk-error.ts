import { LockstepError } from '@lockstep/shared';
import { errorCodeOf } from './system-error.ts';

/** The error codes of a disk that fails or is gone. */
const diskErrors: ReadonlySet<string | undefined> = new Set([
  'EIO',
  'ESTALE',
  'ENODEV',
  'ENXIO',
  'ETIMEDOUT',
  'EBADMSG',
  'EUCLEAN',
]);

/**
 * The error to show instead of one of the system about a file whose disk fails or is gone: `folder-not-writable`, with a sentence that
 * says what to do. Undefined for any other error; `path` if it does not name the file itself.
 */
export function diskError(error: unknown, path?: string): LockstepError | undefined {
  if (!(error instanceof Error) || error instanceof LockstepError) return undefined;
  const { path: named = path } = error as NodeJS.ErrnoException;
  const code = errorCodeOf(error);
  if (named === undefined || !diskErrors.has(code)) return undefined;
  return new LockstepError(
    'folder-not-writable',
    `${named} cannot be read or written because of its disk (${code}). Check that the disk is connected and mounted, and try again.`,
    { cause: error },
  );
}
