import { constants } from 'node:os';
import { errorCodeOf } from '../os/system-error.ts';

/** An error for the program that uses the mount. */
export class MountError extends Error {
  readonly code: keyof typeof constants.errno;

  constructor(code: keyof typeof constants.errno, message: string = code) {
    super(message);
    this.code = code;
  }
}

/** The number that the kernel expects for an error: negative. An error without a known code is an error of the device (EIO). */
export function errnoOf(error: unknown): number {
  const code = errorCodeOf(error) ?? '';
  const known: Readonly<Record<string, number>> = constants.errno;
  return -(known[code] ?? constants.errno.EIO);
}

/**
 * Waits for an answer about a file that a program has open. If its path is gone, another member or a program deleted the file: that is ESTALE,
 * because reads and writes do not fail with ENOENT.
 */
export async function asOpened<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof MountError) || error.code !== 'ENOENT') throw error;
    throw new MountError('ESTALE', error.message);
  }
}
