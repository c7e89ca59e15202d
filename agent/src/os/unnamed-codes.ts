import { constants } from 'node:os';

/** Linux alone has this one. */
const damagedNumber = 117;

/** Errors that Node has no names for, by the code that it gives instead. */
const names: ReadonlyMap<string, string> = new Map(
  [
    ['EBADMSG', constants.errno.EBADMSG] as const,
    ['EDQUOT', constants.errno.EDQUOT] as const,
    ['ESTALE', constants.errno.ESTALE] as const,
    ['EUCLEAN', damagedNumber] as const,
  ].map(([name, number]) => [`Unknown system error -${number}`, name]),
);

/** The name of a system error's `code`. Node says `Unknown system error -122` for EDQUOT. */
export function namedCode(code: string): string {
  return names.get(code) ?? code;
}

/** Whether the code of a failed write says that the disk is full, or the quota of its user. */
export function isNoRoom(code: string | undefined): boolean {
  return code !== undefined && ['ENOSPC', 'EDQUOT'].includes(namedCode(code));
}
