import { constants } from 'node:os';

/** Linux alone has this one. */
const damagedNumber = 117;

/** Errors that Node has no names for. */
const names: ReadonlyMap<number, string> = new Map([
  [constants.errno.EBADMSG, 'EBADMSG'],
  [constants.errno.EDQUOT, 'EDQUOT'],
  [constants.errno.ESTALE, 'ESTALE'],
  [damagedNumber, 'EUCLEAN'],
]);

const unnamed = /^Unknown system error -(\d+)$/;

/**
 * The `code` of a system error, such as `ENOENT`; undefined for any other error. For EDQUOT and some others Node gives
 * `Unknown system error -122`, or `UNKNOWN` with the number in `errno`.
 */
export function errorCodeOf(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return undefined;
  const { code, errno } = error as NodeJS.ErrnoException & { readonly code: string };
  const number = code === 'UNKNOWN' && errno !== undefined ? -errno : Number(unnamed.exec(code)?.[1]);
  return names.get(number) ?? code;
}

/** Whether a write failed because the disk is full, or a quota. */
export function isNoRoom(error: unknown): boolean {
  const code = errorCodeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}
