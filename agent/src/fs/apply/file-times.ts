/**
 * The time to hand to `futimes` and `lutimes`, which cut a number of seconds down to whole microseconds, towards zero: with
 * half a microsecond more, what is cut off never takes the one meant along. As text, because Node takes a negative number for
 * a mistake and sets the present time instead.
 */
export function secondsOf(mtimeUs: number): string {
  return String((mtimeUs + (mtimeUs < 0 ? -0.5 : 0.5)) / 1e6);
}

const permissionBits = 0o7777;

/** What chmod(2) takes of a mode. */
export function permissionsOf(mode: number): number {
  return mode & permissionBits;
}
